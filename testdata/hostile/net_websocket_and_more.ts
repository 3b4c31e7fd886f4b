// class: net | profile: net=127.0.0.1 | must: ok: []
const g: any = globalThis;
return ["WebSocket", "EventSource", "XMLHttpRequest", "Worker", "SharedWorker", "navigator.sendBeacon", "WebTransport", "importScripts"].filter((n) => n in g);
