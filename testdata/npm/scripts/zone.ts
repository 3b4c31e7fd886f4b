// A file that another imports, which imports a package again.
import { formatISO } from "date-fns/formatISO";
export const formatInTimeZone = (d: Date): string => formatISO(d);
