// class: net-size | profile: net=127.0.0.1 time=1500 | must: stopped: time or NetworkError or ok: 0
const all: Promise<any>[] = [];
for (let i = 0; i < 2000; i++) all.push(fetch(H.http + "/slow"));
await Promise.all(all);
await Promise.all(all.map(async (r) => (await r).text()));
return 0;
