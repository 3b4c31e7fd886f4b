// Writes locales.pack, what package intl knows of languages, by asking a Node whose Intl
// stands on the whole of ICU:
//
//	node generate.mjs
//
// The pack begins with lines of text: where it is from, the tags that ICU supports, a line
// "LOCALE PARENT" for each locale with data ("-" is no parent), a line "LOCALE SUBJECT LENGTH"
// for each part, and an empty one. Then come the parts, each JSON compressed by deflate. A
// part of a locale with a parent holds only what is different from the parent's.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { fileURLToPath } from "node:url";
import { deflateRawSync } from "node:zlib";

// parents says where the rest of a locale's data is.
const parents = {
  "en-001": "en", "en-GB": "en-001", "en-CA": "en", "en-AU": "en-001", "en-NZ": "en-001", "en-IE": "en-GB", "en-ZA": "en-001",
  "en-IN": "en-001", "en-SG": "en-001", "en-HK": "en-001", "en-PH": "en", "en-150": "en-001", "en-DE": "en-150", "en-CH": "en-150",
  "en-NL": "en-150", "en-BE": "en-150", "en-SE": "en-150", "en-DK": "en-150", "en-FI": "en-150", "en-AT": "en-150", "en-IL": "en-001",
  "de-AT": "de", "de-CH": "de", "fr-CA": "fr", "fr-CH": "fr", "fr-BE": "fr", "es-419": "es", "es-MX": "es-419", "es-AR": "es-419",
  "es-US": "es-419", "es-CO": "es-419", "es-CL": "es-419", "es-PE": "es-419", "it-CH": "it", "pt-PT": "pt", "nl-BE": "nl",
  "zh-Hant-HK": "zh-Hant", "sr-Latn": "sr", "ar-EG": "ar", "ar-SA": "ar", "ar-AE": "ar",
};
const languages = ("en de fr es it pt nl sv da nb nn fi is pl cs sk hu ro bg hr sr sl uk ru tr el he ar fa ur hi bn ta te mr " +
  "th vi id ms fil ja zh zh-Hant ko et lv lt ca eu gl sw af").split(" ");
const locales = [...languages, ...Object.keys(parents)];
// Some combinations of options end Node's process. Each locale is asked in a process of its
// own, which notes what it is about to ask; what ended it is left out the next time.
const [probed, note, moments, ...fatal] = process.argv[2] === "--probe" ? process.argv.slice(3) : [];

const latin = (tag) => `${tag}-u-ca-${tag === "th" ? "buddhist" : "gregory"}-nu-latn`;
const digits = (s) => /^\d+$/.test(s);

// ---- numbers

function numberPattern(parts) {
  let out = "";
  for (const p of parts) {
    switch (p.type) {
      case "minusSign": case "plusSign": out += "{-}"; break;
      case "percentSign": out += "{%}"; break;
      case "currency": out += "{$}"; break;
      case "compact": out += `{c:${p.value}}`; break;
      case "unit": out += `{u:${p.value}}`; break;
      case "literal": out += p.value; break;
      default: if (!out.endsWith("{n}")) out += "{n}";
    }
  }
  return out;
}

const samples = [0, 1, 2, 3, 5, 11, 21, 100, 1000000, 1.5, 0.5];

// byCategory gives a number of each plural category of a language.
function byCategory(tag) {
  const rules = new Intl.PluralRules(tag), out = {};
  for (const n of samples) out[rules.select(n)] ??= n;
  return out;
}

// plural asks for a pattern in each category. A category that is as "other" is left out.
function plural(tag, make) {
  const out = {};
  for (const [category, n] of Object.entries(byCategory(tag))) out[category] = make(n);
  for (const category of Object.keys(out)) if (category !== "other" && out[category] === out.other) delete out[category];
  return out;
}

function number(tag) {
  const f = (o) => new Intl.NumberFormat(tag, o);
  const pair = (o) => [numberPattern(f(o).formatToParts(5)), numberPattern(f(o).formatToParts(-5))];
  const part = (o, n, type) => f(o).formatToParts(n).find((p) => p.type === type)?.value ?? "";
  const group = (o) => {
    const sizes = f({ useGrouping: "always", maximumFractionDigits: 0, ...o }).formatToParts(1e12).filter((p) => p.type === "integer").map((p) => [...p.value].length);
    const groups = sizes.length > 1;
    return { primary: groups ? sizes.at(-1) : 0, secondary: groups ? sizes.at(-2) : 0 };
  };
  const eur = { style: "currency", currency: "EUR", maximumFractionDigits: 0 };
  // A symbol that is no letter, and one that is: ICU puts a space between a letter and the digits.
  const sign = { ...eur, currencyDisplay: "narrowSymbol" }, letters = { ...eur, currencyDisplay: "code" };
  const compact = (o) => {
    const out = {};
    const rules = new Intl.PluralRules(tag);
    for (let e = 3; e <= 14; e++) {
      const show = f({ notation: "compact", maximumSignificantDigits: 3, useGrouping: false, ...o });
      const count = (n) => show.formatToParts(n).filter((p) => p.type === "integer").map((p) => [...p.value].length).reduce((a, b) => a + b, 0);
      const drop = e + 1 - count(10 ** e);
      const patterns = {};
      for (const m of [1, 2, 3, 5, 1.5, 1.1, 1.2, 1.3, 2.1, 2.2, 2.5, 1.01, 1.02, 1.03, 1.05, 1.11]) {
        const n = Math.round(m * 100) * 10 ** (e - 2);
        if (count(n) !== e + 1 - drop) continue;
        patterns[rules.select(Number((n / 10 ** drop).toPrecision(12)))] ??= numberPattern(show.formatToParts(n));
      }
      for (const c of Object.keys(patterns)) if (c !== "other" && patterns[c] === patterns.other) delete patterns[c];
      out[e] = { ...patterns, drop: String(drop) };
    }
    return out;
  };
  const range = f({}).formatRangeToParts(3, 5);
  return {
    nu: f().resolvedOptions().numberingSystem,
    decimal: part({}, 1.5, "decimal"), group: part({ useGrouping: "always" }, 1e6, "group"),
    currencyDecimal: part({ ...sign, maximumFractionDigits: 1 }, 1.5, "decimal"), currencyGroup: part({ ...sign, useGrouping: "always" }, 1e6, "group"),
    minus: part({}, -1, "minusSign"), plus: part({ signDisplay: "always" }, 1, "plusSign"), percentSign: part({ style: "percent" }, 1, "percentSign"),
    exponent: part({ notation: "scientific" }, 1e6, "exponentSeparator"), exponentMinus: part({ notation: "scientific" }, 1e-6, "exponentMinusSign"),
    nan: part({}, NaN, "nan"), infinity: part({}, Infinity, "infinity"),
    ...group({}), minimum: /[^\d]/.test(f({ numberingSystem: "latn", useGrouping: "auto" }).format(1000)) ? 1 : 2,
    number: pair({ maximumFractionDigits: 0 }), percent: pair({ style: "percent", maximumFractionDigits: 0 }), compactPercent: numberPattern(f({ style: "percent", notation: "compact" }).formatToParts(0.05)),
    currencySign: pair(sign), currencyLetters: pair(letters), accountingSign: pair({ ...sign, currencySign: "accounting" }), accountingLetters: pair({ ...letters, currencySign: "accounting" }),
    currencyName: plural(tag, (n) => numberPattern(f({ ...eur, maximumFractionDigits: 1, currencyDisplay: "name" }).formatToParts(n))),
    short: compact({}), long: compact({ compactDisplay: "long" }),
    currencyShort: compact({ ...sign, maximumFractionDigits: undefined }), currencyShortLetters: compact({ ...letters, maximumFractionDigits: undefined }),
    range: range.filter((p) => p.source === "shared").map((p) => p.value).join(""),
    approximately: f({ maximumFractionDigits: 0 }).formatRangeToParts(3, 3.1).find((p) => p.type === "approximatelySign")?.value ?? "~",
  };
}

const currencies = Intl.supportedValuesOf("currency");

function currency(tag) {
  const out = {};
  for (const code of currencies) {
    const f = (currencyDisplay) => new Intl.NumberFormat(tag, { style: "currency", currency: code, currencyDisplay }).formatToParts(5).find((p) => p.type === "currency").value;
    const symbol = f("symbol"), narrow = f("narrowSymbol"), name = new Intl.DisplayNames(tag, { type: "currency" }).of(code);
    const display = new Intl.NumberFormat(tag, { style: "currency", currency: code, currencyDisplay: "name", minimumFractionDigits: 0 });
    const names = plural(tag, (n) => display.formatToParts(n).filter((p) => p.type === "currency").map((p) => p.value).join(""));
    out[code] = [symbol === code ? "" : symbol, narrow === symbol ? "" : narrow, name, ...Object.entries(names).flat()];
  }
  return { currencies: out };
}

const units = Intl.supportedValuesOf("unit");

// pairs are units that people divide, some of which have patterns of their own.
const pairs = "kilometer/hour meter/second mile/hour mile/gallon liter/kilometer megabit/second gigabit/second kilobit/second " +
  "bit/second byte/second kilobyte/second megabyte/second gigabyte/second terabyte/second meter/hour meter/minute " +
  "kilometer/second kilometer/liter liter/hour liter/minute gram/liter foot/second meter/day gigabyte/day gigabyte/month " +
  "kilogram/liter milliliter/minute mile/minute mile/second day/week hour/day hour/week day/month day/year megabyte/hour " +
  "megabyte/day liter/day kilogram/day gram/day gram/milliliter celsius/hour celsius/minute mile/liter pound/foot " +
  "kilogram/meter gram/meter percent/year percent/month meter/liter liter/mile gallon/mile gallon/minute gallon/hour " +
  "inch/hour millimeter/hour millimeter/day centimeter/hour centimeter/second acre/hour hectare/hour ounce/gallon " +
  "pound/week kilogram/week mile/day kilometer/day kilometer/minute byte/minute byte/day bit/minute";

function unit(tag) {
  const out = {}, per = {};
  const displays = ["short", "narrow", "long"];
  const patterns = (unit, unitDisplay) => plural(tag, (n) => numberPattern(new Intl.NumberFormat(tag, { style: "unit", unit, unitDisplay, useGrouping: false }).formatToParts(n)));
  for (const u of units) for (const display of displays) out[`${u} ${display}`] = patterns(u, display);
  // Nothing per byte has a pattern of its own, so that it shows what "per" is by itself.
  const text = (pattern) => pattern?.match(/\{u:([^}]*)\}/)?.[1] ?? "";
  for (const u of units) for (const display of displays) {
    const byte = text(out[`byte ${display}`].other), both = text(patterns(`byte-per-${u}`, display).other);
    per[`${u} ${display}`] = both.includes(byte) ? both.replace(byte, "{0}") : `{0}/${text(out[`${u} ${display}`].other)}`;
  }
  const compose = (a, b, display) => Object.fromEntries(Object.entries(out[`${a} ${display}`]).map(([category, pattern]) => [category, pattern.replace(/\{u:([^}]*)\}(?!.*\{u:)/, (_, own) => `{u:${per[`${b} ${display}`].replace("{0}", own)}}`)]));
  const compound = {};
  for (const [a, b] of pairs.split(" ").map((pair) => pair.split("/"))) {
    for (const display of displays) {
      const own = patterns(`${a}-per-${b}`, display);
      if (JSON.stringify(own) !== JSON.stringify(compose(a, b, display))) compound[`${a}-per-${b} ${display}`] = own;
    }
  }
  return { units: out, per, compound };
}

// ---- dates

const widths = [undefined, "narrow", "short", "long"], numeric = [undefined, "numeric", "2-digit"], months = [undefined, "numeric", "2-digit", "narrow", "short", "long"];
const cycles = ["h11", "h12", "h23", "h24"], styles = ["full", "long", "medium", "short"];
const at = (...a) => { const d = new Date(Date.UTC(...a)); if (a[0] < 100) d.setUTCFullYear(a[0]); return d; };
const base = at(2024, 2, 5, 3, 4, 5);
const clean = (o) => Object.fromEntries(Object.entries(o).filter(([, v]) => v !== undefined));

function date(tag) {
  const lists = [], known = new Map(), patterns = [""], numbers = new Map([["", 0]]);
  const intern = (list) => {
    const key = JSON.stringify(list);
    if (!known.has(key)) known.set(key, lists.push(list) - 1);
    return known.get(key);
  };
  const pattern = (text) => {
    if (!numbers.has(text)) numbers.set(text, patterns.push(text) - 1);
    return numbers.get(text);
  };
  const format = (o) => new Intl.DateTimeFormat(latin(tag), { timeZone: "UTC", ...clean(o) });
  const letters = { era: "G", year: "y", month: "M", day: "d", weekday: "E", hour: "h", minute: "m", second: "s", dayPeriod: "a", timeZoneName: "z", fractionalSecond: "f" };
  const dates = {
    month: [...Array(12).keys()].map((m) => at(2024, m, 5, 3, 4, 5)),
    weekday: [...Array(7).keys()].map((d) => at(2024, 2, 3 + d, 3, 4, 5)),
    era: [at(-100, 2, 5, 3, 4, 5), base],
    dayPeriod: [...Array(24).keys()].map((h) => at(2024, 2, 5, h, 0, 0)).concat([...Array(24).keys()].map((h) => at(2024, 2, 5, h, 34, 5))),
  };
  const token = (p, list, padded) => {
    const letter = letters[p.type];
    if (!letter) return p.value;
    if (letter === "z" || letter === "f") return `{${letter}}`;
    if (!digits(p.value)) return `{${letter}:${list(p)}}`;
    const two = p.value.length === 2 && (p.value.startsWith("0") || letter === "y" || padded && letter === "h");
    return `{${two ? letter + letter : letter}}`;
  };
  const read = (o) => {
    const asked = JSON.stringify(o);
    // Where some do, most with a weekday and an era do.
    if (fatal.includes(asked) || fatal.length > 2 && o.weekday && o.era) return read({ ...o, era: undefined });
    writeFileSync(note, asked);
    const f = format(o);
    const parts = f.formatToParts(base);
    const seen = {};
    return parts.map((p) => token(p, ({ type }) => {
      const nth = seen[type] = (seen[type] ?? -1) + 1;
      return intern(dates[type].map((d) => f.formatToParts(d).filter((q) => q.type === type)[nth]?.value ?? ""));
    })).join("");
  };
  const index = (o) => pattern(read(o));
  const out = { dates: [], times: [], weekTimes: [], dateStyles: [], timeStyles: [], dateRanges: [], timeRanges: [], dateStyleRanges: [], timeStyleRanges: [] };

  for (const weekday of widths) for (const era of widths) for (const year of numeric) for (const month of months) for (const day of numeric) {
    const o = { weekday, era, year, month, day };
    // An era alone brings the default date, so that it is asked for beside a month.
    if (era && Object.keys(clean(o)).length === 1) out.dates.push(pattern(read({ era, month: "long" }).match(/\{G:\d+\}/)[0]));
    else out.dates.push(Object.keys(clean(o)).length ? index(o) : 0);
  }
  for (const hour of numeric) for (const minute of numeric) for (const second of numeric) for (const hourCycle of cycles) for (const dayPeriod of widths) for (const zone of [undefined, "short", "long"]) {
    const o = { hour, minute, second, dayPeriod, timeZoneName: zone };
    const empty = !hour && (hourCycle !== "h11" || !minute && !second && !dayPeriod && !zone);
    const twelve = hourCycle === "h11" || hourCycle === "h12";
    // A zone alone brings the default date, so that it is asked for beside a weekday.
    if (!empty && !hour && !minute && !second && !dayPeriod) { out.times.push(pattern("{z}")); continue; }
    if (empty || dayPeriod && zone || dayPeriod && !twelve) { out.times.push(0); continue; }
    out.times.push(index({ ...o, hourCycle: hour && hourCycle }));
  }
  for (const weekday of widths.slice(1)) for (const hour of numeric.slice(1)) for (const minute of numeric) for (const second of numeric) for (const hourCycle of cycles) {
    out.weekTimes.push(index({ weekday, hour, minute, second, hourCycle }));
  }
  for (const dateStyle of styles) out.dateStyles.push(index({ dateStyle }));
  for (const timeStyle of styles) for (const hourCycle of cycles) out.timeStyles.push(index({ timeStyle, hourCycle }));

  // What joins a date and a time, by how the month is written, and by dateStyle.
  const glue = (o, mark, other) => {
    const dateText = format(mark).format(base), timeText = format(other).format(base);
    return format({ ...o }).format(base).replace(dateText, "{1}").replace(timeText, "{0}");
  };
  const time = { hour: "numeric", minute: "2-digit" };
  out.glue = [{ weekday: "long", month: "long", day: "numeric", year: "numeric" }, { month: "long", day: "numeric", year: "numeric" }, { month: "short", day: "numeric", year: "numeric" }, { month: "numeric", day: "numeric", year: "numeric" }]
    .map((d) => glue({ ...d, ...time }, d, time));
  out.styleGlue = styles.map((dateStyle) => glue({ dateStyle, timeStyle: "short" }, { dateStyle }, { timeStyle: "short" }));

  // Ranges, by the largest field that is different.
  const pairs = { y: [base, at(2025, 5, 7, 3, 4, 5)], M: [base, at(2024, 5, 7, 3, 4, 5)], d: [base, at(2024, 2, 7, 3, 4, 5)], a: [base, at(2024, 2, 5, 15, 6, 7)], h: [base, at(2024, 2, 5, 5, 6, 7)], m: [base, at(2024, 2, 5, 3, 6, 7)] };
  const position = { month: (d) => d.getUTCMonth(), weekday: (d) => d.getUTCDay(), era: () => 1, dayPeriod: (d) => 24 + d.getUTCHours() };
  const ranges = (o) => {
    const f = format(o);
    const own = read(o);
    const wanted = [...own.matchAll(/\{(\w):(\d+)\}/g)].map((m) => Number(m[2]));
    return (field) => {
      const [from, to] = pairs[field];
      let parts;
      try { parts = f.formatRangeToParts(from, to); } catch { return 0; }
      if (!parts.some((p) => p.source === "endRange")) return 0;
      let text = "", source = "";
      const find = (p) => {
        const d = p.source === "endRange" ? to : from;
        const fits = (l) => lists[l].length === dates[p.type].length && lists[l][position[p.type](d)] === p.value;
        const others = parts.filter((q) => q.type === p.type && !digits(q.value));
        const all = (l) => others.every((q) => lists[l].length === dates[q.type].length && lists[l][position[q.type](q.source === "endRange" ? to : from)] === q.value);
        const keys = [...wanted, ...lists.keys()];
        const found = keys.find((l) => fits(l) && all(l)) ?? keys.find(fits);
        return found ?? intern(dates[p.type].map(() => p.value));
      };
      for (const p of parts) {
        const s = { startRange: "<", endRange: ">", shared: "=" }[p.source];
        if (s !== source) text += `{${source = s}}`;
        text += token(p, find, parts.some((q) => q.type === "hour" && q.value.startsWith("0")));
      }
      return pattern(text);
    };
  };
  for (const weekday of widths) for (const year of numeric) for (const month of months) for (const day of numeric) {
    const o = { weekday, year, month, day };
    const r = Object.keys(clean(o)).length ? ranges(o) : () => 0;
    for (const field of "yMd") out.dateRanges.push(r(field));
  }
  for (const hour of numeric) for (const minute of numeric) for (const second of numeric) for (const hourCycle of cycles) {
    const o = { hour, minute, second };
    const r = Object.keys(clean(o)).length && (hour || hourCycle === "h11") ? ranges({ ...o, hourCycle: hour && hourCycle }) : () => 0;
    for (const field of "ahm") out.timeRanges.push(r(field));
  }
  for (const dateStyle of styles) { const r = ranges({ dateStyle }); for (const field of "yMd") out.dateStyleRanges.push(r(field)); }
  for (const timeStyle of styles) for (const hourCycle of cycles) { const r = ranges({ timeStyle, hourCycle }); for (const field of "ahm") out.timeStyleRanges.push(r(field)); }
  out.rangeGlue = format({ dateStyle: "short", timeStyle: "short" }).formatRangeToParts(...pairs.y).find((p) => p.source === "shared").value;

  const resolved = (o) => new Intl.DateTimeFormat(tag, { hour: "numeric", ...o }).resolvedOptions();
  const { calendar, hourCycle } = resolved({});
  return {
    ...out, patterns, lists, calendar: ["gregory", "buddhist"].includes(calendar) ? calendar : "gregory",
    cycles: [hourCycle, resolved({ hour12: true }).hourCycle, resolved({ hour12: false }).hourCycle],
    decimal: format({ second: "numeric", fractionalSecondDigits: 1 }).formatToParts(base).find((p) => p.type === "literal")?.value ?? ".",
  };
}

// ---- zones

const zones = Intl.supportedValuesOf("timeZone");
const zoneStyles = ["long", "longGeneric", "short", "shortGeneric"];
const zoneName = (tag, timeZone, timeZoneName, d) => new Intl.DateTimeFormat(latin(tag), { timeZone, timeZoneName, day: "numeric" }).formatToParts(d).find((p) => p.type === "timeZoneName").value;
const offset = (timeZone, d) => { const m = zoneName("en", timeZone, "longOffset", d).match(/GMT(?:([+-])(\d\d):(\d\d))?/); return m[1] ? Number(`${m[1]}1`) * (m[2] * 60 + Number(m[3])) : 0; };

// turns finds when a zone was last at its standard time and at its summer time.
function turns(zone) {
  for (let year = 2024; year >= 2010; year--) {
    const [a, b] = [at(year, 0, 15), at(year, 6, 15)];
    const [x, y] = [offset(zone, a), offset(zone, b)];
    if (x !== y && (year > 2015 || Math.abs(x - y) <= 60 && offset(zone, at(2024, 0, 15)) === Math.min(x, y))) return (x < y ? [a, b] : [b, a]).map(Number);
  }
  return [Number(at(2024, 0, 15))];
}

function zoneNames(tag, zone, [standard, summer]) {
  const names = [];
  // What has digits is an offset, which needs no name.
  const plain = (name) => /\d/.test(name) ? "" : name;
  for (const style of zoneStyles) {
    names.push(plain(zoneName(tag, zone, style, standard)));
    if (!style.endsWith("Generic")) names.push(summer ? plain(zoneName(tag, zone, style, summer)) : "");
  }
  while (names.length && !names.at(-1)) names.pop();
  return names;
}

function zone(tag) {
  const gmt = (style, z) => zoneName(tag, z, style, base);
  return {
    zones: Object.fromEntries(Object.entries(JSON.parse(readFileSync(moments, "utf8"))).map(([zone, when]) => [zone, zoneNames(tag, zone, when)])),
    zero: [gmt("shortOffset", "UTC"), gmt("longOffset", "UTC")], east: gmt("longOffset", "Asia/Tokyo"), west: gmt("longOffset", "America/Phoenix"),
    utc: [gmt("short", "UTC"), gmt("long", "UTC")],
  };
}

// ---- words

const relativeUnits = ["second", "minute", "hour", "day", "week", "month", "quarter", "year"];

function words(tag) {
  const relative = {}, list = {};
  for (const style of ["long", "short", "narrow"]) {
    const always = new Intl.RelativeTimeFormat(tag, { style }), auto = new Intl.RelativeTimeFormat(tag, { style, numeric: "auto" });
    for (const unit of relativeUnits) {
      const read = (sign) => plural(tag, (n) => {
        const parts = always.formatToParts(sign * n, unit);
        let text = "";
        for (const p of parts) text += p.type === "literal" ? p.value : text.endsWith("{0}") ? "" : "{0}";
        return text;
      });
      const named = {};
      for (const n of [-2, -1, -0, 0, 1, 2]) { const parts = auto.formatToParts(n, unit); if (parts.length === 1 && parts[0].type === "literal") named[Object.is(n, -0) ? "-0" : String(n)] = parts[0].value; }
      relative[`${unit} ${style}`] = [read(1), read(-1), named];
    }
    for (const type of ["conjunction", "disjunction", "unit"]) {
      const f = new Intl.ListFormat(tag, { style, type });
      const between = (items, i) => f.formatToParts(items).filter((p) => p.type === "literal").map((p) => p.value)[i];
      list[`${type} ${style}`] = [between(["A", "B"], 0), between(["A", "B", "C", "D"], 0), between(["A", "B", "C", "D"], 1), between(["A", "B", "C", "D"], 2)];
    }
  }
  const cardinal = new Intl.PluralRules(tag), ordinal = new Intl.PluralRules(tag, { type: "ordinal" });
  const many = [...samples, 4, 6, 7, 8, 10, 12, 20, 22, 23, 25, 30, 101, 2000000];
  const ranges = {};
  for (const a of many) for (const b of many) if (a < b) {
    const key = `${cardinal.select(a)} ${cardinal.select(b)}`, value = cardinal.selectRange(a, b);
    if (value !== cardinal.select(b)) ranges[key] = value;
  }
  return { relative, list, cardinal: cardinal.resolvedOptions().pluralCategories, ordinal: ordinal.resolvedOptions().pluralCategories, ranges };
}

const letters = [..."ABCDEFGHIJKLMNOPQRSTUVWXYZ"];
const regions = letters.flatMap((a) => letters.map((b) => a + b)).concat(["001", "002", "003", "005", "009", "011", "013", "014", "015", "017", "018", "019", "021", "029", "030", "034", "035", "039", "053", "054", "057", "061", "142", "143", "145", "150", "151", "154", "155", "202", "419"]);
const lower = letters.map((l) => l.toLowerCase());
const scripts = "Arab Armn Beng Bopo Brai Cyrl Deva Ethi Geor Grek Gujr Guru Hanb Hang Hani Hans Hant Hebr Hira Hrkt Jamo Jpan Kana Khmr Knda Kore Laoo Latn Mlym Mong Mymr Orya Sinh Taml Telu Thaa Thai Tibt Zinh Zmth Zsye Zsym Zxxx Zyyy Zzzz Cher Cans Copt Goth Runr Tfng Vaii Yiii Egyp Xsux Ogam Sund Bali Java".split(" ");
const dialects = "en-US en-GB en-AU en-CA de-AT de-CH es-ES es-MX es-419 fr-CA fr-CH pt-BR pt-PT zh-Hans zh-Hant nl-BE ro-MD sr-ME fa-AF ar-001 sw-CD hi-Latn nds-NL".split(" ");
let languageCodes;

function names(tag) {
  const of = (type, o) => { const d = new Intl.DisplayNames(tag, { type, fallback: "none", ...o }); return (code) => { try { return d.of(code); } catch { return undefined; } }; };
  if (!languageCodes) {
    const known = new Intl.DisplayNames("en", { type: "language", fallback: "none" });
    languageCodes = lower.flatMap((a) => lower.flatMap((b) => ["", ...lower].map((c) => a + b + c))).filter((c) => Intl.getCanonicalLocales(c)[0] === c && known.of(c)).concat(dialects);
  }
  const map = (codes, get, except) => Object.fromEntries(codes.map((c) => [c, get(c)]).filter(([c, v]) => v && v !== except?.(c)));
  const out = { region: map(regions, of("region")), language: map(languageCodes, of("language")), script: map(scripts, of("script")) };
  out.regionShort = map(regions, of("region", { style: "short" }), (c) => out.region[c]);
  out.languageShort = map(languageCodes, of("language", { style: "short" }), (c) => out.language[c]);
  out.calendar = map(Intl.supportedValuesOf("calendar"), of("calendar"));
  const fields = ["era", "year", "quarter", "month", "weekOfYear", "weekday", "day", "dayPeriod", "hour", "minute", "second", "timeZoneName"];
  out.field = map(fields, of("dateTimeField"));
  out.fieldShort = map(fields, of("dateTimeField", { style: "short" }), (c) => out.field[c]);
  out.fieldNarrow = map(fields, of("dateTimeField", { style: "narrow" }), (c) => out.field[c]);
  out.combined = of("language", { languageDisplay: "standard" })("nl-DE")?.replace(out.language.nl, "{0}").replace(out.region.DE, "{1}") ?? "{0} ({1})";
  out.several = of("language", { languageDisplay: "standard" })("nl-Arab-DE")?.split(out.script.Arab)[1]?.split(out.region.DE)[0] ?? ", ";
  return out;
}

// ---- what no language has to itself

function world() {
  const canonical = {};
  const dir = "/usr/share/zoneinfo";
  const walk = (d) => readdirSync(d).flatMap((n) => statSync(`${d}/${n}`).isDirectory() ? walk(`${d}/${n}`) : [`${d}/${n}`.slice(dir.length + 1)]);
  for (const name of new Set([...zones, ...walk(dir)])) {
    if (/^(posix|right)\//.test(name) || /\./.test(name)) continue;
    try { canonical[name] = new Intl.DateTimeFormat("en", { timeZone: name }).resolvedOptions().timeZone; } catch {}
  }
  const aliases = Object.fromEntries(zones.map((z) => [z, []]));
  for (const [name, z] of Object.entries(canonical)) if (name !== z) aliases[z]?.push(name);
  const week = {};
  for (const r of regions) { const w = new Intl.Locale(`und-${r}`).weekInfo; const key = `${w.firstDay} ${w.weekend.join(",")} ${w.minimalDays}`; (week[key] ??= []).push(r); }
  for (const k of Object.keys(week)) week[k] = week[k].join(" ");
  const zonesOf = {};
  for (const r of regions) { const z = new Intl.Locale(`und-${r}`).timeZones; if (z?.length) zonesOf[r] = z.join(" "); }
  const decimals = {};
  for (const c of currencies) { const d = new Intl.NumberFormat("en", { style: "currency", currency: c }).resolvedOptions().maximumFractionDigits; if (d !== 2) decimals[c] = d; }
  const digitsOf = {};
  for (const nu of Intl.supportedValuesOf("numberingSystem")) {
    const s = new Intl.NumberFormat(`en-u-nu-${nu}`, { useGrouping: false }).format(9876543210);
    if ([...s].length === 10) digitsOf[nu] = [...s].reverse().join("");
  }
  return {
    aliases: Object.entries(aliases).map(([z, names]) => [z, ...names].join(" ")).join("\n"),
    week, zonesOf, decimals, digits: digitsOf, currencies: currencies.join(" "), units: units.join(" "), calendars: Intl.supportedValuesOf("calendar").join(" "),
    collations: Intl.supportedValuesOf("collation").join(" "), numberingSystems: Intl.supportedValuesOf("numberingSystem").join(" "),
  };
}

// ---- the pack

// merged are members that a locale changes one entry at a time.
const merged = new Set(["currencies", "units", "per", "compound", "zones", "relative", "list", "region", "language", "script", "regionShort", "languageShort"]);

function difference(whole, parent) {
  const out = {};
  for (const [key, value] of Object.entries(whole)) {
    if (JSON.stringify(value) === JSON.stringify(parent[key])) continue;
    out[key] = value;
    if (!merged.has(key)) continue;
    out[key] = Object.fromEntries(Object.entries(value).filter(([k, v]) => JSON.stringify(v) !== JSON.stringify(parent[key]?.[k])));
    for (const k of Object.keys(parent[key] ?? {})) if (!(k in value)) out[key][k] = null;
  }
  return out;
}

const subjects = { number, currency, unit, date, zone, words, names };

function probe(locale) {
  const file = `${tmpdir()}/intl-${process.pid}`, moments = `${file}-zones`, skip = [];
  if (!existsSync(moments)) writeFileSync(moments, JSON.stringify(Object.fromEntries(zones.map((z) => [z, turns(z)]))));
  for (;;) {
    const child = spawnSync(process.execPath, [fileURLToPath(import.meta.url), "--probe", locale, file, moments, ...skip], { encoding: "utf8", maxBuffer: 1 << 28, stdio: ["ignore", "pipe", "ignore"] });
    if (child.status === 0) return JSON.parse(child.stdout);
    const last = readFileSync(file, "utf8");
    if (skip.includes(last)) throw new Error(`${locale}: ${last}`);
    skip.push(last);
  }
}

if (probed) {
  const answer = probed === "und" ? world() : Object.fromEntries(Object.entries(subjects).map(([subject, read]) => [subject, read(probed)]));
  process.stdout.write(JSON.stringify(answer), () => process.exit());
} else {
  pack();
}

function pack() {
  const index = [], blobs = [], whole = {};
  const add = (locale, subject, value) => {
    const blob = deflateRawSync(JSON.stringify(value), { level: 9 });
    index.push(`${locale} ${subject} ${blob.length}`);
    blobs.push(blob);
  };
  for (const locale of locales) {
    whole[locale] = probe(locale);
    for (const [subject, value] of Object.entries(whole[locale])) {
      const parent = parents[locale];
      const part = parent ? difference(value, whole[parent][subject]) : value;
      if (Object.keys(part).length) add(locale, subject, part);
    }
    process.stderr.write(`${locale}\n`);
  }
  add("und", "world", probe("und"));
  const roots = [...new Set([...languages.map((l) => l.split("-")[0]), "no"])];
  const regional = roots.flatMap((l) => [l, ...regions.map((r) => `${l}-${r}`), ...["Latn", "Cyrl", "Arab", "Hans", "Hant"].flatMap((s) => [`${l}-${s}`, ...regions.map((r) => `${l}-${s}-${r}`)])]);
  const header = [
    `# ${process.version}, ICU ${process.versions.icu}, CLDR ${process.versions.cldr}`,
    `supported ${regional.filter((tag) => new Intl.NumberFormat(tag).resolvedOptions().locale === tag).join(" ")} `,
    ...locales.map((l) => `${l} ${parents[l] ?? "-"}`),
    ...index, "", "",
  ];
  writeFileSync(new URL("locales.pack", import.meta.url), Buffer.concat([Buffer.from(header.join("\n")), ...blobs]));
}
