import { addDays, addMonths, differenceInCalendarDays, eachDayOfInterval, endOfMonth, format, formatDistance, formatDuration, getISOWeek, intervalToDuration, isWeekend, isValid, parse, parseISO, startOfWeek, sub } from "date-fns";
import { de, ja } from "date-fns/locale";
import { formatInTimeZone } from "./zone";

const d = parseISO("2026-02-27T10:20:30Z");
console.log(format(d, "yyyy-MM-dd'T'HH:mm:ss"), format(d, "EEEE, do MMMM yyyy 'at' h:mm a"), format(d, "PPPP", { locale: de }), format(d, "PPPP", { locale: ja }), format(d, "QQQ ww I RRRR"));
console.log(format(addDays(d, 3), "P"), format(addMonths(d, 12), "MMM d"), format(endOfMonth(d), "d"), format(startOfWeek(d, { weekStartsOn: 1 }), "EEE d"), differenceInCalendarDays(parseISO("2026-03-08"), d), getISOWeek(d));
console.log(eachDayOfInterval({ start: d, end: addDays(d, 4) }).map((x) => format(x, "EEEEEE") + (isWeekend(x) ? "*" : "")), formatDistance(d, sub(d, { hours: 50 }), { addSuffix: true }), formatDistance(sub(d, { months: 14 }), d, { locale: de }));
console.log(formatDuration(intervalToDuration({ start: d, end: addDays(addMonths(d, 1), 2) })), isValid(parse("31/02/2026", "dd/MM/yyyy", new Date(0))), format(parse("5. Mai 2026", "d. MMMM yyyy", new Date(0), { locale: de }), "yyyy-MM-dd"));
console.log(formatInTimeZone(d));
