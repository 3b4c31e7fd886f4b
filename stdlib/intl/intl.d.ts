// TypeScript's own library (es2022 and newer) declares Intl and the methods of Number,
// String, Date and Array that depend on the locale; a script finds all of it.
declare namespace Intl {}
