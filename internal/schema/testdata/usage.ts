// What a script may and may not write, by the declarations of tools.json. Every line
// after @ts-expect-error must be an error.
export async function right() {
  const f = await tools.weather.forecast({ place: "Oslo", days: 3, unit: "celsius" });
  f.days[0].low.toFixed();
  f.raw.content.map((block) => block.text);
  f.content.length;
  const own: number | undefined = f.text; // the server's own member wins over ours
  await weather.forecast({ place: { lat: 1, lon: 2, name: null } });
  const whole = await tools.weather.forecast.raw({ place: "x" });
  whole.isError;
  whole.structuredContent.anything;
  (await weather["fancy-name"]()).whatever.follows;
  await weather.fancyName();
  await weather.fancy_name({});
  await weather.fancyName.raw();
  const t = await weather.tree({ root: { value: 1, children: [{ value: null, children: [] }] } });
  t.next?.next?.count?.toFixed();
  await weather.json({ value: { a: [1, "x", null, { b: true }] } });
  await weather.node({ a: { id: "1", up: { id: "2" } } });
  await weather.treeAgain({ root: { value: 1 } });
  await weather.then({ a: 1 });
  await weather.constructor();
  await weather.delete({ anything: 1 });
  await weather['new\nline \u2028 and "quote" 😀']();
  await tools["my-server"].shapes({
    tuple: ["a"], map: { x: 1 }, open: { a: "x", b: 2 }, patterns: { "x-a": true }, closed: {}, keyed: { on: 1 },
    both: { id: "1", extra: true, note: null }, either: { a: "x" }, toString: "x", odd: [1], loop: 5, base: { id: "2" }, many: "nu",
  });
  await my_server.shapes({ tuple: ["a", 1], old_tuple: ["a", null, 3], loop: "x", either: { b: "x" } });
  await tools.myServer.draft3({ must: "x", any: { n: 1 }, more: true });
  await tools.history;
  await tools.delete.all();
  await tools.mcpx.loop({ again: { again: {} } });
  await Tool.loop();
  return own;
}
export async function wrong() {
  // @ts-expect-error the place is required
  await weather.forecast({});
  // @ts-expect-error and with it the arguments
  await weather.forecast();
  // @ts-expect-error there is no such unit
  await weather.forecast({ place: "x", unit: "kelvin" });
  // @ts-expect-error nor such an argument
  await weather.forecast({ place: "x", unknown: 1 });
  // @ts-expect-error half a point
  await weather.forecast({ place: { lat: 1 } });
  // @ts-expect-error the result has no such member
  (await weather.forecast({ place: "x" })).nothing;
  // @ts-expect-error within a recursion
  await weather.tree({ root: { value: 1, children: [{ children: [] }] } });
  // @ts-expect-error no JSON
  await weather.json({ value: undefined });
  // @ts-expect-error one Node is not the other
  await weather.node({ a: { value: 1 } });
  // @ts-expect-error no such tool
  await weather.nothing();
  // @ts-expect-error nor alias
  await weather.Tree();
  // @ts-expect-error nothing leaks out of a comment
  injected;
  // @ts-expect-error too many elements
  await my_server.shapes({ tuple: ["a", 1, 2] });
  // @ts-expect-error too few
  await my_server.shapes({ tuple: [] });
  // @ts-expect-error a map of numbers
  await my_server.shapes({ map: { x: "1" } });
  // @ts-expect-error another key
  await my_server.shapes({ keyed: { maybe: 1 } });
  // @ts-expect-error no key at all
  await my_server.shapes({ closed: { a: 1 } });
  // @ts-expect-error of both
  await my_server.shapes({ both: { id: "1" } });
  // @ts-expect-error either
  await my_server.shapes({ either: {} });
  // @ts-expect-error neither string nor number
  await my_server.shapes({ loop: true });
  // @ts-expect-error required, as draft 3 says it
  await my_server.draft3({});
  // @ts-expect-error a string or an object
  await my_server.draft3({ must: "x", any: 1 });
  // @ts-expect-error a name that a browser has is no global
  history.all();
}
