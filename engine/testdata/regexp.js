// What regular expressions do, line by line; both node and the engine print it.
const out = [];
const show = (v) => JSON.stringify(v, (k, x) => (x === undefined ? "undefined" : Array.isArray(x) && "index" in x ? { m: [...x], index: x.index, groups: x.groups && { ...x.groups }, indices: x.indices && [...x.indices], named: x.indices?.groups && { ...x.indices.groups } } : x));
const t = (name, f) => { let line; try { line = show(f()); } catch (e) { line = `${e.name}: ${e.message}`; } out.push(`${name} ${line}`); };
const texts = ["", "Größe ΑΒΓ abc 123", "hi 😀🎉!", "naïve café_1 日本語", "a\r\nb\nc\u2028d", "ABCabcſK", "foo-bar (baz) [qux] 2024-05-06", "\ud83d x \ude00", "aaa bbb aab", "x1y22z333 éà"];
const patterns = [
  ["\\p{L}+", "gu"], ["\\p{Lu}", "gu"], ["\\P{L}+", "gu"], ["[\\p{L}\\p{N}_]+", "gu"], ["[^\\p{L}]+", "gu"], ["\\p{Script=Greek}+", "u"], ["\\p{sc=Han}", "gu"], ["\\p{scx=Hira}", "gu"],
  ["\\p{Emoji_Presentation}", "gu"], ["\\p{Extended_Pictographic}", "gu"], ["\\p{ASCII}+", "gu"], ["\\P{ASCII}", "gu"], ["\\p{Lu}", "giu"], ["\\P{Lu}", "giu"], ["[^\\P{Lu}]", "giu"], ["\\p{Ll}+", "iu"],
  ["\\w+", "gu"], ["\\W+", "gu"], ["\\w+", "giu"], ["\\W", "giu"], ["\\b\\w", "gu"], ["\\B.", "gu"], ["\\b", "giu"], ["[\\w-]+", "gu"], ["\\bé", "u"], ["(?=\\w)é", "u"], ["\\b", "g"], ["\\w", "gi"],
  ["^\\w+$", "gm"], ["^", "gm"], ["$", "gm"], ["^.*$", "gm"], ["^b|d$", "gm"], ["(?!^)b", "m"], ["^b$", "gmu"], ["^[abc]$", "gims"], ["$", "m"], ["^\\W", "im"],
  [".", "gu"], [".", "gsu"], ["[^]", "gu"], ["[^]", "g"], ["[]", "u"], ["[^a]", "giu"], ["[^k]", "gi"], ["k", "giu"], ["[a-z]+", "giu"], ["s", "gi"],
  ["[\\p{L}--[a-z]]+", "v"], ["[\\w&&\\p{Lu}]", "gv"], ["[[a-c][x-z]]", "gv"], ["[\\q{abc|d}x]", "gv"], ["^\\p{RGI_Emoji}$", "v"], ["\\p{RGI_Emoji}", "gv"], ["[^\\d\\s]+", "gv"], ["[\\p{ASCII}&&[^a]]", "gv"], ["\\P{Lu}", "giv"], ["[^\\p{Lu}]", "giv"], [".", "gsv"],
  ["(?<y>\\d{4})-(?<m>\\d\\d)", "d"], ["(a)|(b)", "dg"], ["(?<y>\\d{4})-(?<m>\\d\\d)", "du"], ["b(?<x>z)?", "d"], ["(?<=\\()(\\w+)", "d"], ["😀", "du"], ["a+", "dgy"], ["(?:(a)|b)*", "d"],
  ["(?<a>.)(?<b>.)\\k<a>", ""], ["(?<a>a)\\k<a>", "u"], ["(?<año>a)", "u"], ["\\u{1F600}", "u"], ["[\\u{1F600}-\\u{1F64F}]", "gu"], ["\\ud83d\\ude00", "u"], ["^\\ud83d", "u"], ["\\ud83d", "g"], ["[😀]", "gu"], ["😀|🎉", "gu"],
  ["\\/", ""], ["[/]\\/", "i"], ["a{2}", "gu"], ["(?:a|ab)(?:c|bcd)?", "u"], ["\\cJ", "u"], ["[\\b]", "u"], ["\\x41\\u0042", "u"], ["\\0", "u"], ["[\\-a]", "gu"], ["a(?=b)", "gu"], ["(?<![a-z])b", "gu"], ["(a+)\\1", "u"],
];
for (const [p, f] of patterns) {
  let re;
  try { re = new RegExp(p, f); } catch (e) { out.push(`/${p}/${f} ${e.name}: ${e.message}`); continue; }
  t(`/${p}/${f} is`, () => [re.source, re.flags, String(re), re.global, re.sticky, re.hasIndices, re.lastIndex]);
  for (const s of texts) {
    t("match", () => s.match(re)); t("exec", () => { re.lastIndex = 0; return re.exec(s); }); t("replace", () => s.replace(re, "<$&|$1>")); t("function", () => s.replace(re, (...a) => `[${typeof a.at(-1) === "object" ? a.length - 1 : a.length}:${a[0]}]`));
    t("split", () => s.split(re)); t("search", () => s.search(re)); t("test", () => { re.lastIndex = 1; const r = [re.test(s), re.lastIndex]; re.lastIndex = 0; return r; });
    if (f.includes("g")) t("all", () => [...s.matchAll(re)].map((m) => [m.index, m[0]]));
  }
}
for (const [p, f] of [["(", ""], ["[", ""], ["*", ""], ["a", "gg"], ["\\p{Foo}", "u"], ["[b-a]", ""], ["(?<a>.)(?<a>.)", ""], [")", ""], ["a**", ""], ["{1}", "u"], ["\\u{110000}", "u"], ["(?<1a>.)", ""], ["\\k<a>", "u"], ["a{2,1}", ""], ["\\", ""], ["\\1", "u"], ["\\-", "u"], ["(?a)", "u"], ["[\\w-a]", "u"], ["x", "uv"], ["[a&&b--c]", "v"], ["[(]", "v"], ["[&&a]", "v"], ["\\p", "u"], ["\\p{Lu", "u"], ["\\x1", "u"], ["(?<n", ""], ["(?<a>x)\\k<b>", ""], ["a{1", "u"], ["]", "u"], ["\\c", "u"], ["[\\d-\\w]", "u"], ["\\00", "u"], ["[z-\\x41]", ""]]) t(`/${p}/${f}`, () => String(new RegExp(p, f)));
t("classes", () => { class R extends RegExp { get y() { return 1; } } const r = new R("\\p{L}", "gu"); return [r instanceof R, r.y, "a1".replace(r, "x"), r.flags, RegExp.name, RegExp.length]; });
t("same", () => { const r = /\p{L}/u; return [RegExp(r) === r, new RegExp(r) === r, new RegExp(r).source, new RegExp(r, "gu").flags, new RegExp(/a/m, "g").flags, new RegExp("/").source, new RegExp("").source, new RegExp("\n").source, RegExp("a/b").toString(), new RegExp({ [Symbol.match]: true, source: "q", flags: "g", constructor: RegExp }).flags]; });
t("prototype", () => [RegExp.prototype.source, RegExp.prototype.flags, RegExp.prototype.hasIndices, RegExp.prototype.constructor === RegExp, RegExp[Symbol.species] === RegExp]);
t("getters", () => [Object.getOwnPropertyDescriptor(RegExp.prototype, "flags").get.name, (() => { try { return Object.getOwnPropertyDescriptor(RegExp.prototype, "hasIndices").get.call({}); } catch (e) { return e.name; } })(), Object.getOwnPropertyDescriptor(RegExp.prototype, "flags").get.call({ global: true, hasIndices: true })]);
t("literals", () => [/^x$/m.source, /^x$/m.flags, String(/\p{L}/u), /[/]\//.source, /a/dg.flags, /\b/u.unicode, /[\p{L}--q]/v.unicodeSets, /x/.unicodeSets]);
t("lastIndex", () => { const r = /\p{L}/gu; const s = "aé1b"; const seen = []; let m; while ((m = r.exec(s))) seen.push(m.index, r.lastIndex); return [seen, r.lastIndex]; });
t("sticky", () => { const r = /\p{L}/uy; r.lastIndex = 1; return [r.test("a1b"), r.lastIndex, (r.lastIndex = 2, r.exec("a1b")?.[0])]; });
console.log(out.join("\n"));
