// class: tools-argument | profile: tools=probe.echo | must: TypeError
const a: any = {}; a.a = a;
return await H.tool("probe.echo", a);
