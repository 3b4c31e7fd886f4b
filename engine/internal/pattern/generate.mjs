// Writes properties.txt: what \p{…} needs and Go's unicode package does not have, as
// this node's version of Unicode knows it. Run it by hand when that version changes:
//
//	node generate.mjs > properties.txt
//
// A line is a kind, a name, and for a set its code points: from the end of the one
// before, how many are left out and how many follow, in base 36.

const binary = [
  "Bidi_Mirrored", "Case_Ignorable", "Changes_When_Casefolded", "Changes_When_Casemapped", "Changes_When_Lowercased",
  "Changes_When_NFKC_Casefolded", "Changes_When_Titlecased", "Changes_When_Uppercased", "Default_Ignorable_Code_Point",
  "Emoji", "Emoji_Component", "Emoji_Modifier", "Emoji_Modifier_Base", "Emoji_Presentation", "Extended_Pictographic",
  "Grapheme_Base", "XID_Continue", "XID_Start",
];

const all = [];
for (let c = 0; c <= 0x10ffff; c++) all.push(String.fromCodePoint(c));

function members(property) {
  const matches = new RegExp(`^\\p{${property}}$`, "u");
  return all.map((c) => matches.test(c));
}

function encode(set) {
  const out = [];
  let end = 0;
  for (let c = 0; c < set.length; ) {
    if (!set[c]) {
      c++;
      continue;
    }
    const from = c;
    while (set[c]) c++;
    out.push((from - end).toString(36), (c - from).toString(36));
    end = c;
  }
  return out.join(" ");
}

function valid(property) {
  try {
    return new RegExp(`\\p{${property}}`, "u");
  } catch {
    return null;
  }
}

const letters = "abcdefghijklmnopqrstuvwxyz";
const codes = [];
for (const a of letters) for (const b of letters) for (const c of letters) for (const d of letters) {
  const code = a.toUpperCase() + b + c + d;
  if (valid(`Script=${code}`)) codes.push(code);
}

const names = process.argv[2].split(",");
const bySet = new Map();
for (const name of names) {
  const sc = members(`Script=${name}`);
  const scx = members(`Script_Extensions=${name}`);
  bySet.set(encode(sc), name);
  const more = encode(scx.map((has, c) => has && !sc[c]));
  const less = encode(sc.map((has, c) => has && !scx[c]));
  if (more) console.log("more", name, more);
  if (less) console.log("less", name, less);
}
for (const code of codes) {
  const name = bySet.get(encode(members(`Script=${code}`)));
  if (name && name !== code) console.log("script", code, name);
}
for (const name of binary) console.log("property", name, encode(members(name)));
