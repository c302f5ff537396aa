import { isIPv4, isIPv6 } from 'node:net';

/** Forms of texts that are known by a name, each checked in time that grows with the text; of other names nothing is checked. */
export const formats: Readonly<Record<string, (value: string) => boolean>> = {
  email: (value) => value.length <= 320 && /^[^\s@]{1,64}@[^\s@.]+(?:\.[^\s@.]+)*$/.test(value),
  uri: (value) => /^[a-z][a-z\d+.-]*:/i.test(value) && !/\s/.test(value) && URL.canParse(value),
  date: (value) => /^\d{4}-\d{2}-\d{2}$/.test(value) && isDay(value),
  'date-time': (value) =>
    /^\d{4}-\d{2}-\d{2}[Tt]([01]\d|2[0-3]):[0-5]\d:([0-5]\d|60)(\.\d+)?([Zz]|[+-]([01]\d|2[0-3]):[0-5]\d)$/.test(
      value,
    ) && isDay(value.slice(0, 10)),
  time: (value) =>
    /^([01]\d|2[0-3]):[0-5]\d:([0-5]\d|60)(\.\d+)?([Zz]|[+-]([01]\d|2[0-3]):[0-5]\d)?$/.test(value),
  duration: (value) =>
    /^P(?!$)(\d+Y)?(\d+M)?(\d+W)?(\d+D)?(T(?=\d)(\d+H)?(\d+M)?(\d+(\.\d+)?S)?)?$/.test(value),
  uuid: (value) => /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/i.test(value),
  ipv4: (value) => isIPv4(value),
  ipv6: (value) => isIPv6(value),
  hostname: (value) =>
    value.length <= 253 &&
    /^[a-z\d]([a-z\d-]{0,61}[a-z\d])?(\.[a-z\d]([a-z\d-]{0,61}[a-z\d])?)*$/i.test(value),
};

/** The 30th of February is none. */
function isDay(day: string): boolean {
  const time = new Date(`${day}T00:00:00Z`);
  return !Number.isNaN(time.getTime()) && time.toISOString().startsWith(day);
}
