package intl

import (
	"encoding/json"
	"math"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"mcpx/engine"
	"mcpx/stdlib/console"
	"mcpx/stdlib/internal/declared"
	"mcpx/stdlib/internal/trial"
)

// zoneOfTests is the local zone of the scripts, of Node too.
const zoneOfTests = "America/New_York"

func TestMain(m *testing.M) {
	location, err := time.LoadLocation(zoneOfTests)
	if err != nil {
		panic(err)
	}
	time.Local = location //nolint:gosmopolitan // as the worker does
	os.Exit(m.Run())
}

func modules() []engine.Module { return []engine.Module{Module(), console.Module()} }

// prelude is what the scripts have in common: show writes what a function returns or
// throws, and pick goes through lists in an order that is the same everywhere.
const prelude = `const show = f => { try { console.log(JSON.stringify(f())) } catch (e) { console.log(e.name + ": " + e.message) } };
let state = 11;
const below = n => { state = Math.imul(state ^ (state >>> 15), 2246822519) + 0x9e3779b9 | 0; let z = Math.imul(state ^ (state >>> 13), 3266489917); return ((z ^ (z >>> 16)) >>> 0) % n };
const pick = list => list[below(list.length)];
const maybe = (o, name, one, values) => { if (below(one) === 0) o[name] = pick(values) };
const languages = ["en-US", "en-US", "en-US", "en", "en-GB", "en-CA", "en-IN", "de-DE", "de-AT", "fr-FR", "fr-CA", "es-ES", "es-MX", "it", "pt-BR", "pt-PT", "ja-JP", "zh-CN", "ko", "nl-NL", "sv-SE", "pl", "ru", "tr", "da", "nb", "fi", "cs", "uk", "hu", "ro", "vi", "id", "th"];
`

// scripts are compared with Node.
var scripts = []string{
	// Numbers, by chance.
	`const values = [0, -0, 1, -1, 2, 5, 0.5, -0.5, 1.5, 2.5, 1.005, -0.0001, 12, 123, 999, 999.5, 1000, 1234.5, -1234.567, 9999.99, 12345, 15300, 99950, 999999, 1e6, 1234567.891, -2e6, 1.5e9, 1e12, 123456789012345, 0.000001234, NaN, Infinity, -Infinity, 1/3, 21, 0.256, 42n, 12345678901234567890n, "123456789.123456789", "0x1F", "abc", ""];
	const currencies = ["USD", "EUR", "JPY", "GBP", "CHF", "CAD", "INR", "CNY", "KRW", "BRL", "SEK", "PLN", "AUD", "KWD", "BTC"];
	const units = ["kilometer", "kilometer-per-hour", "mile-per-hour", "liter", "celsius", "percent", "byte", "gigabyte-per-second", "day", "hour", "kilogram", "degree", "foot", "year", "week", "meter-per-second"];
	for (let i = 0; i < 4000; i++) {
		const o = {}, style = below(10);
		if (style < 2) o.style = "percent";
		else if (style < 5) { o.style = "currency"; o.currency = pick(currencies); maybe(o, "currencyDisplay", 2, ["symbol", "code", "name", "narrowSymbol"]); maybe(o, "currencySign", 4, ["accounting"]) }
		else if (style < 6) { o.style = "unit"; o.unit = pick(units); maybe(o, "unitDisplay", 2, ["short", "narrow", "long"]) }
		if (o.style !== "unit" && o.currencyDisplay !== "name") maybe(o, "notation", 5, ["compact", "scientific", "engineering", "standard"]);
		maybe(o, "compactDisplay", 3, ["short", "long"]);
		maybe(o, "signDisplay", 4, ["auto", "never", "always", "exceptZero", "negative"]);
		maybe(o, "minimumFractionDigits", 4, [0, 1, 2, 3]);
		if (below(4) === 0) o.maximumFractionDigits = (o.minimumFractionDigits || 0) + below(4) + (o.currency ? 3 : 0);
		maybe(o, "maximumSignificantDigits", 8, [1, 2, 3, 4]);
		maybe(o, "minimumIntegerDigits", 8, [1, 2, 3]);
		maybe(o, "useGrouping", 8, [true, false, "always", "min2"]);
		maybe(o, "roundingMode", 8, ["ceil", "floor", "expand", "trunc", "halfCeil", "halfFloor", "halfExpand", "halfTrunc", "halfEven"]);
		maybe(o, "trailingZeroDisplay", 12, ["stripIfInteger"]);
		if (o.currencySign) { delete o.useGrouping; delete o.notation } const language = o.currencySign ? pick(["en-US", "de-DE", "ja-JP"]) : pick(languages.slice(0, 16)), value = pick(values);
		let text;
		try { const f = new Intl.NumberFormat(language, o); text = below(5) ? f.format(value) : JSON.stringify(f.formatToParts(value)) } catch (e) { text = e.name + ": " + e.message }
		console.log(i, language, JSON.stringify(o), String(value), text);
	}`,
	// Dates, by chance.
	`const zones = ["UTC", "America/New_York", "Europe/Berlin", "Asia/Tokyo", "Asia/Kolkata", "Europe/London", "America/Los_Angeles", "Australia/Sydney", "America/Phoenix", "america/chicago", undefined];
	const text = ["narrow", "short", "long"], number = ["numeric", "2-digit"], styles = ["full", "long", "medium", "short"];
	for (let i = 0; i < 4000; i++) {
		const o = {};
		if (below(4) === 0) { const k = below(3); if (k !== 1) o.dateStyle = pick(styles); if (k) o.timeStyle = pick(styles) }
		else {
			maybe(o, "weekday", 3, text); maybe(o, "year", 2, number); maybe(o, "month", 2, [...number, ...text]); maybe(o, "day", 2, number);
			if (below(3) === 0) { o.hour = pick(number); maybe(o, "minute", 2, number); if (o.minute) maybe(o, "second", 2, number); if (o.second) maybe(o, "fractionalSecondDigits", 4, [1, 2, 3]); if (!o.weekday || o.day) maybe(o, "timeZoneName", 6, ["short", "long"]) }
		}
		if (!o.hour && !o.timeStyle && !o.dateStyle) maybe(o, "timeZoneName", 6, ["long", "shortOffset", "longOffset"]);
		if (!o.dateStyle) maybe(o, "hour12", 5, [true, false]);
		const zone = pick(zones); if (zone) o.timeZone = zone;
		const d = new Date(Date.UTC(2000 + below(35), below(12), 1 + below(28), below(24), below(60), below(60), below(1000))), language = pick(languages);
		const f = new Intl.DateTimeFormat(language, o);
		console.log(i, language, JSON.stringify(o), d.toISOString(), below(4) ? f.format(d) : JSON.stringify(f.formatToParts(d)));
	}`,
	// Ranges of dates, by chance.
	`const text = ["short", "long"], number = ["numeric", "2-digit"], styles = ["full", "long", "medium", "short"];
	for (let i = 0; i < 1500; i++) {
		const o = { timeZone: "UTC" };
		if (below(3) === 0) { const k = below(3); if (k !== 1) o.dateStyle = pick(styles); if (k) o.timeStyle = pick(styles.slice(2)) }
		else { const k = below(3); if (k !== 1) { maybe(o, "weekday", 3, text); maybe(o, "year", 2, ["numeric"]); o.month = pick([...number, ...text]); o.day = pick(number) } if (k === 1) { o.hour = "numeric"; maybe(o, "minute", 2, ["2-digit"]) } }
		const x = Date.UTC(2020 + below(3), below(3), 1 + below(3), below(24), below(60)), y = x + pick([0, 1, 6e4, 36e5, 5 * 36e5, 13 * 36e5, 864e5, 7 * 864e5, 40 * 864e5, 400 * 864e5]), language = pick(languages.slice(0, 20));
		const f = new Intl.DateTimeFormat(language, o);
		console.log(i, language, JSON.stringify(o), new Date(x).toISOString(), (y - x) / 6e4, o.dateStyle && o.timeStyle ? "" : f.formatRange(x, y));
	}`,
	// Order, by chance.
	`const words = "co-op coop CO-OP co op resume résumé Résumé resumé RESUME rôle role naïve naive a A á Á ab aB Ab AB äb z Z zebra Zebra œuvre oeuvre straße strasse ae æ item1 item10 item2 item02 _x 10 9 1 01 001 a1 a01 a-1 a_1 a.1 'a (a) ñ n o ö ø å s š ss ß đ d ł l þ th i ı 日本 中 한국 あ ア か 😀 € $ + < ~ @ v1.2.9 v1.10.0 1,000 foo bar foo-bar foobar FooBar ﬁ fi Ａ ą ę ż cz č ć ž ő ş й и ё щ Ω α".split(" ").concat("", " ", " a", "a ", "a b", "a\tb", "ab c");
	for (let i = 0; i < 6000; i++) {
		const o = {};
		maybe(o, "numeric", 3, [true, false]); maybe(o, "sensitivity", 2, ["base", "accent", "case", "variant"]); maybe(o, "caseFirst", 5, ["upper", "lower", "false"]); if (!o.sensitivity) maybe(o, "ignorePunctuation", 6, [true, false]);
		const language = pick(["en", "en-US", "de", "fr", "es", "sv", "pl", "ru", "zh", "tr", "de-u-co-phonebk", "fi", "el"]), a = pick(words), b = below(3) ? pick(words) : pick(words) + pick(words);
		console.log(language, JSON.stringify(o), JSON.stringify([a, b]), new Intl.Collator(language, o).compare(a, b), a.localeCompare(b), [a, b].sort(Intl.Collator(language).compare).join());
	}`,
	// Plurals, relative times, lists and names.
	`for (const l of languages.slice(3).concat("zh-TW", "ar", "he", "hi", "lt", "lv", "sl", "sk", "bg", "hr", "ca", "et", "fa")) {
		const n = [0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 12, 14, 20, 21, 22, 23, 25, 31, 100, 101, 102, 103, 111, 1e3, 1e6, 2e6, 0.5, 1.5, 0.1, 2.3, 10.5, 0.333, -1, NaN, Infinity];
		console.log(l, n.map(x => new Intl.PluralRules(l).select(x)).join(), n.map(x => new Intl.PluralRules(l, { type: "ordinal" }).select(x)).join(), [0, 1, 2].map(x => new Intl.PluralRules(l, { minimumFractionDigits: 1 }).select(x)).join(), new Intl.PluralRules(l).selectRange(1, 5));
		for (const style of ["long", "short", "narrow"]) {
			for (const unit of ["second", "minutes", "hour", "day", "week", "month", "quarter", "years"]) console.log(l, style, [-2, -1, -0, 0, 1, 2, 3, 5, 11, 1.5, -1234.5].map(x => new Intl.RelativeTimeFormat(l, { style }).format(x, unit) + new Intl.RelativeTimeFormat(l, { style, numeric: "auto" }).format(x, unit)).join());
			for (const type of ["conjunction", "disjunction", "unit"]) console.log(l, style, type, [[], ["A"], ["A", "B"], ["A", "B", "C"], ["A", "B", "C", "D"], ["A", "i"], ["x", "Oso"]].map(x => new Intl.ListFormat(l, { style, type }).format(x)).join());
			const names = (type, o, ...codes) => codes.map(c => new Intl.DisplayNames(l, { type, ...o }).of(c)).join();
			console.log(l, names("region", { style }, "US", "GB", "DE", "419", "XX"), names("script", {}, "Latn", "Xxxx"), names("currency", { style }, "USD", "ABC"), names("language", { style: "long" }, "en", "en-US", "de-AT", "zh-Hant", "zh-Hant-TW", "xx", "fr-CA", "de-DE"), names("language", { languageDisplay: "standard" }, "en-US", "zh-Hant"), names("dateTimeField", { style }, "year", "weekday", "era"), names("calendar", {}, "gregory"));
		}
	}`,
	`for (const s of ["en-US", "EN-us", "zh-hant-tw", "de-1996", "en-u-nu-thai-ca-buddhist", "en-u-ca-gregory-nu-arab-x-foo", "iw", "sh", "cmn", "deu-de", "x-foo", "und", "root", "a", "abcd", "en_US", "en--US", "", "en-840", "en-UK", "sl-rozaj-biske-1994", "en-u-kn-true", "en-u-kn-false", "de-u-co-phonebk", "en-b-bb-a-aa", "no-NO", "en-Latn"]) show(() => Intl.getCanonicalLocales(s));
	for (const s of ["en", "zh", "zh-TW", "sr-ME", "und-US", "pt-PT", "ja", "hi", "en-GB"]) show(() => { const l = new Intl.Locale(s); return [l.maximize().toString(), l.minimize().toString(), l.language, l.script, l.region, l.baseName, l.weekInfo, l.textInfo, l.hourCycles, l.numberingSystems] });
	show(() => { const l = new Intl.Locale("en-Latn-US-u-ca-buddhist-co-emoji-hc-h12-kf-upper-kn-nu-thai"); return [l.calendar, l.collation, l.hourCycle, l.caseFirst, l.numeric, l.numberingSystem, l.toString()] });
	show(() => new Intl.Locale("en", { region: "gb", calendar: "gregory", numeric: true, hourCycle: "h23" }).toString());
	for (const o of [{ region: "x" }, { language: "x" }, { calendar: "x" }]) show(() => new Intl.Locale("en", o));
	for (const k of ["calendar", "collation", "currency", "numberingSystem", "unit", "x"]) show(() => Intl.supportedValuesOf(k));
	show(() => Intl.supportedValuesOf("timeZone").length);
	for (const timeZone of ["Etc/GMT+5", "etc/gmt-14", "Etc/GMT+12", "Etc/GMT-0", "GMT0", "Zulu", "UCT", "Etc/Universal", "Greenwich", "US/Eastern", "GMT+5", "Etc/GMT+13"]) show(() => { const f = new Intl.DateTimeFormat("en-US", { timeZone, dateStyle: "short", timeStyle: "short" }); return [f.resolvedOptions().timeZone, f.format(0)] });
	for (const C of ["NumberFormat", "DateTimeFormat", "RelativeTimeFormat", "ListFormat", "Segmenter", "PluralRules", "Collator"]) show(() => [Intl[C].name, Intl[C].length, new Intl[C]("en-US").resolvedOptions(), Object.prototype.toString.call(new Intl[C]()), Intl[C].supportedLocalesOf(["de-CH", "xx", "en-US-u-nu-thai", "zh-Hant-TW"]), Object.getOwnPropertyNames(Intl[C].prototype).sort(), Object.keys(Intl[C].prototype)]);
	show(() => [Object.prototype.toString.call(Intl), Object.getOwnPropertyNames(Intl).sort(), Object.keys(Intl)]);
	console.log([new Intl.NumberFormat(), new Intl.Locale("en-US")], Intl.NumberFormat("de").format(1.5), typeof Intl.DateTimeFormat().format);`,
	`for (const f of [() => new Intl.NumberFormat("en", { style: "currency" }), () => new Intl.NumberFormat("en", { style: "currency", currency: "us" }), () => new Intl.NumberFormat("en", { style: "unit" }), () => new Intl.NumberFormat("en", { style: "unit", unit: "foo" }), () => new Intl.NumberFormat("en", { style: "foo" }), () => new Intl.NumberFormat("en", { maximumFractionDigits: 101 }), () => new Intl.NumberFormat("en", { minimumFractionDigits: 5, maximumFractionDigits: 2 }), () => new Intl.NumberFormat("en", { roundingIncrement: 3 }), () => new Intl.NumberFormat("en", { roundingIncrement: 5, maximumSignificantDigits: 3 }), () => new Intl.NumberFormat("e"), () => new Intl.NumberFormat([5]), () => new Intl.NumberFormat("en", null), () => new Intl.NumberFormat("en", { useGrouping: "foo" }), () => new Intl.NumberFormat("en", { numberingSystem: "x" }), () => Intl.NumberFormat.prototype.formatToParts.call({}, 1), () => new Intl.ListFormat("en").format([1]), () => new Intl.ListFormat("en", 5), () => new Intl.RelativeTimeFormat("en").format(1, "foo"), () => new Intl.RelativeTimeFormat("en").format(NaN, "day"), () => new Intl.DisplayNames("en"), () => new Intl.DisplayNames("en", { type: "region" }).of("foo"), () => new Intl.Locale("x"), () => new Intl.Locale(), () => new Intl.DateTimeFormat("en").format(NaN), () => new Intl.DateTimeFormat("en", { dateStyle: "full", year: "numeric" }), () => new Intl.DateTimeFormat("en").formatRange(1), () => new Intl.DateTimeFormat("en", { fractionalSecondDigits: 4 }), () => new Intl.DateTimeFormat("en", { timeZone: "Mars/Phobos" }), () => Intl.supportedValuesOf("x"), () => (5).toLocaleString("x"), () => "a".localeCompare("b", "x"), () => new Date(NaN).toLocaleString(), () => new Date(0).toLocaleDateString("en", { timeStyle: "short" }), () => new Date(0).toLocaleTimeString("en", { dateStyle: "short" }), () => Number.prototype.toLocaleString.call("a"), () => Date.prototype.toLocaleString.call({}), () => "a".localeCompare.call(null, "a"), () => new Intl.NumberFormat("en").formatRange(1, NaN), () => new Intl.NumberFormat("en").formatRange(5)]) show(f);`,
	`for (const s of [5, 1234.5, 1e21, -0, NaN]) for (const l of [undefined, "de-CH", "en-IN", "ar-EG", ["fr", "en"]]) show(() => s.toLocaleString(l));
	show(() => [1234.5, "a", null, undefined, [1, 2e6], { toLocaleString() { return "X" + arguments.length } }, new Date(0), 12345n, true].toLocaleString("de-DE", { timeZone: "UTC" }));
	show(() => { const a = [1]; a.push(a); return a.toLocaleString() }); show(() => new Float64Array([1234.5, 2]).toLocaleString()); show(() => Object(5.5).toLocaleString("fr"));
	for (const s of ["I", "i", "ı", "ß", "ﬁ", "Σας", "ΑΣ"]) for (const l of [undefined, "tr", "az", "de", ["tr", "en"]]) show(() => [s.toLocaleUpperCase(l), s.toLocaleLowerCase(l)]);
	show(() => ["é".normalize("NFD").length, "e\u0301".normalize().length, "ﬁ".normalize("NFKC")]);
	for (const l of ["en-US", "de", "fr", "es", "it", "ja"]) show(() => [[3, 5], [-3, 5], [3, 3.1], [1200, 5e6]].map(([a, b]) => [{}, { style: "currency", currency: "USD", maximumFractionDigits: 0 }, { style: "percent" }, { notation: "compact" }].map(o => new Intl.NumberFormat(l, o).formatRange(a, b))));
	show(() => new Intl.NumberFormat("en", { style: "currency", currency: "EUR" }).formatRangeToParts(1, 2));`,
	`for (const [s, granularity] of [["Hello, world! 👨‍👩‍👧 naïve", "grapheme"], ["Hello, world! It's 3.14 o'clock (foo_bar).", "word"], ["Hello world. How are you? I'm fine! Dr. Smith.", "sentence"], ["", "grapheme"], ["e\u0301🇩🇪🇫🇷👍🏽", "grapheme"], ["a  b\tc\n\nd", "word"], ["\r\n\r", "grapheme"], ["한국어 각", "grapheme"], ["a.b@c.com http://x.y/z?q=1", "word"], ["1,234.5 $5 50%", "word"]]) show(() => [...new Intl.Segmenter("en", { granularity }).segment(s)]);
	show(() => { const s = new Intl.Segmenter("en", { granularity: "word" }).segment("Hello 😀 world"); return [0, 6, 7, 8, 100, -1, undefined, 9.9].map(i => s.containing(i)) });`,
	// Local time.
	`const iso = d => isNaN(d) ? "NaN" : d.toISOString();
	for (const y of [1883, 1918, 1942, 1970, 2007, 2024, 2040]) for (const [m, d] of [[0, 1], [2, 10], [2, 31], [9, 27], [10, 3], [6, 4]]) for (const [h, min] of [[0, 0], [1, 0], [1, 30], [2, 0], [2, 30], [3, 0], [23, 59]]) { const x = new Date(y, m, d, h, min); console.log(iso(x), x.getTimezoneOffset(), x.getHours(), x.getMinutes(), x.getDay()) }
	const moments = [0, 1e12, 1710054000000, 1710055800000, 1730613600000, 8.64e15, NaN, -62198755200000, 253402300800000];
	for (const t of moments) { const d = new Date(t); console.log(t, String(d), d.toDateString(), d.toTimeString(), d.toUTCString(), isNaN(d) ? "" : d.toISOString(), JSON.stringify(d), d.toLocaleDateString(), d + 1) }
	for (const t of moments) for (const [k, ...a] of [["setHours", 2, 30], ["setHours", 25], ["setMinutes", 90], ["setSeconds", 3600, 5], ["setMilliseconds", -1], ["setDate", 0], ["setDate", 31], ["setMonth", 14], ["setMonth", 1, 30], ["setFullYear", 2024, 1, 29], ["setFullYear", 1e6], ["setHours", NaN], ["setHours"], ["setHours", 1, 2, 3, 4], ["setMinutes", 0.9], ["setHours", Infinity]]) { const d = new Date(t); console.log(t, k, a.join(), d[k](...a), iso(d)) }
	for (const f of [() => typeof Date(), () => Date().length > 30, () => Date.length + Date.name, () => new Date(undefined), () => +new Date(null), () => +new Date(true), () => +new Date(""), () => +new Date([2024]), () => +new Date({ valueOf() { return 5 } }), () => new Date(5n), () => new Date(Symbol()), () => +new Date(new Date(7)), () => +new Date(2024), () => iso(new Date(99, 0)), () => iso(new Date(-1, 0)), () => iso(new Date(2024, 0.9, 1.9)), () => +new Date(5.9), () => Object.is(+new Date(-0), 0), () => iso(new Date(8.64e15 + 1)), () => iso(new Date(1e9, 0)), () => Date.prototype.setHours.call({}, 1), () => new Date(NaN).toISOString(), () => new Date(0) - new Date(1), () => Date.UTC(99, 0), () => Date.parse()]) show(f);
	class X extends Date { constructor(...a) { super(...a); this.z = 1 } hi() { return this.getTime() } } const x = new X(2024, 0, 1);
	console.log(x instanceof Date, x instanceof X, x.hi(), x.z, Object.prototype.toString.call(x), x.constructor === X, Date.prototype.constructor === Date, new Date(0).constructor === Date, Reflect.construct(Date, [5], Object) instanceof Date);
	console.log(Object.getOwnPropertyNames(Date).sort().join(), Object.keys(Date).length, Date.parse.name, Date.prototype.setHours.length, Date.prototype.toGMTString === Date.prototype.toUTCString);
	for (const [c, name] of [["Number", "toLocaleString"], ["String", "localeCompare"], ["Array", "toLocaleString"], ["Date", "setMonth"]]) { const d = Object.getOwnPropertyDescriptor(globalThis[c].prototype, name); console.log(name, d.value.length, d.value.name, d.enumerable, d.writable, d.configurable) }
	const d = Object.getOwnPropertyDescriptor(globalThis, "Date"); console.log(d.enumerable, d.writable, d.configurable, typeof d.value);`,
	// Texts of dates.
	"for (const s of `" + strings.Join(dateTexts, "\n") + "`.split(\"\\n\").concat(\"\", \" 2022-03-05\", \"2022-03-05\\n\", \"\\t2022-03-05\")) { const t = Date.parse(s); console.log(JSON.stringify(s), isNaN(t) ? NaN : new Date(s).toISOString()) }",
}

// dateTexts are texts of dates as servers send them, and others.
var dateTexts = strings.Split(`2024-03-10
2024-03-10T10:00
2024-03-10T10:00:00Z
2024-03-10T10:00:00.123456Z
2024-03-10T10:00:00+05:30
2024-03-10T10:00:00+0530
2024-03-10T10:00:00+05
2024-03-10T10
2024-03-10T24:00
2024-03-10T24:01
2024-03-10T02:30:00
2024-11-03T01:30:00
2024-03-10t10:00:00z
2024-03-10 10:00:00
2024-03-10 10:00:00.123456+00
2024-03-10 10:00:00 UTC
2024-03-10 10:00:00 +0100
2024-03-10 10:00:00 -5
2024-03-10 10:00 Z
2024-03-10T10:00:00 GMT
2024-03-10T10:00:00+01:00[Europe/Berlin]
2024-3-5
2024/03/10
2024/3/5 3:04
2024-02-30
2024-13-01
2024-00-01
2024-01-00
2024
2024-03
202
12
13
32
99
20240310
1710037800
1710037800000
+020240-01-01T00:00:00Z
-000001-01-01
-000000-01-01
-1
03/10/2024
13/5/2024
3/32/2024
0/5/2024
1/2/24
1/2/70
1/1/1
1/1/0001
3/5
Jan 1, 2024
January 1, 2024 10:00 AM PST
1 January 2024
Mar 5, 2024, 10:00 PM
Mar 5, 2024 at 10:00 PM
5 Mar 2024 13:00 PM
3/5/2024 1pm
3/5/2024 1:00pm
3/5/2024, 10:00:00 PM
12:30 AM 3/5/2024
Sun, 10 Mar 2024 10:00:00 GMT
Sun, 10 Mar 2024 10:00:00 +0430
Sun, 10 Mar 2024 10:00:00 EST
Sunday, 06-Nov-94 08:49:37 GMT
Sun Nov  6 08:49:37 1994
Sun Mar 10 2024 10:00:00 GMT+0200 (EET)
Sat Mar 5 10:00:00 PST 2022
2024-03-10 10:00:00 CET
2024-03-10 10:00:00 JST
06-Nov-1994
1994-Nov-06 08:49
06Nov1994
Nov 6 94
Nov 6
Nov
Sept 6 2022
September 6th, 2022
(comment (nested)) Sep 6 2022
Sep 6 2022 (open
Sep 6 2022 )
J 5 2020
Janu 5 2020
Feb 31 2024
Feb 32 2024
15/Mar/2024:10:00:00 +0000
Mar 15 2024 10:00:00.123
Mar 15 2024 10:00.5
2024-03-15 10
2024-03-15 10:
2024-03-15;10:00
2024--01-01
foo 2024-03-05
2024-03-05 foo
garbage
today
null
Monday
2024年3月15日
1.5
0x10
2024-03-05 10:00:00::5`, "\n")

func TestIntlIsNodes(t *testing.T) {
	t.Parallel()
	whole := make([]string, len(scripts))
	for i, s := range scripts {
		whole[i] = prelude + s
	}
	cmd := exec.Command("node", "-")
	cmd.Env = append(os.Environ(), "TZ="+zoneOfTests, "LC_ALL=C")
	cmd.Stdin = strings.NewReader(trial.Program(whole))
	node, err := cmd.Output()
	if err != nil {
		t.Skipf("node 20 is not installed: %v", err)
	}
	var want []string
	if err := json.Unmarshal(node, &want); err != nil || len(want) != len(scripts) {
		t.Fatalf("Node wrote %d answers for %d scripts: %v", len(want), len(scripts), err)
	}
	for i, script := range whole {
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			t.Parallel()
			stdout, stderr := trial.Run(script, nil, modules()...)
			if stderr != "" {
				t.Error(stderr)
			}
			have, want := strings.Split(stdout, "\n"), strings.Split(want[i], "\n")
			if len(have) != len(want) {
				t.Errorf("wrote %d lines, Node %d", len(have), len(want))
			}
			for i := range min(len(have), len(want)) {
				if have[i] != want[i] {
					t.Errorf("wrote %s\nNode  %s", have[i], want[i])
				}
			}
		})
	}
}

func TestDeclarations(t *testing.T) {
	t.Parallel()
	declared.Check(t, Module())
}

// Every locale can be read, and says everything.
func TestPackIsWhole(t *testing.T) {
	t.Parallel()
	if len(contents().parents) < 50 {
		t.Fatalf("the pack has %d locales", len(contents().parents))
	}
	for name := range contents().parents {
		number, date, words := load[numberData](name, "number"), load[dateData](name, "date"), load[wordData](name, "words")
		if number.Decimal == "" || number.Number[1] == "" || number.Short["6"].of("other") == "" || number.CompactPercent == "" {
			t.Errorf("%s: numbers are incomplete: %+v", name, number)
		}
		if len(date.Dates) != 864 || len(date.Times) != 1296 || len(date.WeekTimes) != 216 || len(date.DateRanges) != 648 || len(date.TimeRanges) != 324 || len(date.Cycles) != 3 || len(date.Glue) != 4 {
			t.Errorf("%s: dates are incomplete", name)
		}
		for _, list := range [][]int{date.Dates, date.Times, date.WeekTimes, date.DateStyles, date.TimeStyles, date.DateRanges, date.TimeRanges} {
			for _, n := range list {
				if n < 0 || n >= len(date.Patterns) {
					t.Fatalf("%s: there is no pattern %d", name, n)
				}
			}
		}
		for _, p := range date.Patterns {
			for _, token := range tokens(p) {
				if token.list >= len(date.Lists) {
					t.Errorf("%s: there is no list %d", name, token.list)
				}
			}
		}
		if len(words.Cardinal) == 0 || len(words.List["unit short"]) != 4 || words.Relative["day long"].future.of("other") == "" {
			t.Errorf("%s: words are incomplete", name)
		}
		if z := load[zoneData](name, "zone"); len(z.Zones) < 300 || z.East == "" || z.UTC[0] == "" {
			t.Errorf("%s: zones are incomplete", name)
		}
		if len(load[currencyData](name, "currency").Currencies) < 100 || len(load[unitData](name, "unit").Units) < 100 || len(load[nameData](name, "names").Region) < 100 {
			t.Errorf("%s: names are incomplete", name)
		}
	}
}

func TestZonesAreThere(t *testing.T) {
	t.Parallel()
	for line := range strings.SplitSeq(world().Aliases, "\n") {
		name, _, _ := strings.Cut(line, " ")
		if _, ok := zoneOf(name); !ok {
			t.Errorf("Go has no time zone %s", name)
		}
	}
}

// A runtime pays for Intl only when it is touched.
func BenchmarkInit(b *testing.B) {
	for _, bench := range []struct {
		name    string
		modules []engine.Module
	}{{"without", nil}, {"with", []engine.Module{Module()}}} {
		b.Run(bench.name, func(b *testing.B) {
			for b.Loop() {
				engine.New(engine.Options{Modules: bench.modules})
			}
		})
	}
}

func FuzzDateText(f *testing.F) {
	for _, s := range dateTexts {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if ms := parseDate(s); !math.IsNaN(ms) && (math.Abs(ms) > maxMoment || ms != math.Trunc(ms)) {
			t.Errorf("parseDate(%q) = %v, which is no moment", s, ms)
		}
	})
}

func FuzzTag(f *testing.F) {
	for _, s := range []string{"en-US", "zh-Hant-TW-u-nu-hanidec-co-stroke-x-a-b", "sl-rozaj-1994-t-en-m0-und", "und", "de-u-attr-kn-yes"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		tag, ok := parseTag(s)
		if !ok {
			return
		}
		again, ok := parseTag(tag.String())
		if !ok || again.String() != tag.String() {
			t.Errorf("parseTag(%q) = %s, and of that %s, %v", s, tag, again, ok)
		}
		tag.expand()
		tag.shorten()
	})
}

func FuzzDecimal(f *testing.F) {
	f.Add("123.456e7", 2, 1)
	f.Add("-0.00195", -3, 25)
	f.Fuzz(func(t *testing.T, s string, place, increment int) {
		d, ok := decimalOfText(s)
		if !ok || d.inf || place < -100 || place > 100 || increment < 1 || increment > 5000 || len(s) > 100 {
			return
		}
		r := d.round(place, increment, roundHalfEven)
		if difference := math.Abs(r.float() - d.float()); difference > math.Pow10(place)*float64(increment)*0.500001+math.Abs(d.float())*1e-12 {
			t.Errorf("%s rounded to %d × 10^%d is %v, off by %v", s, increment, place, r.float(), difference)
		}
		rounded{r, 2}.text(1)
	})
}
