/** A time that comes again and again, as five fields name it: minute, hour, day, month, day of the week. */
interface CronFields {
  readonly minutes: ReadonlySet<number>;
  readonly hours: ReadonlySet<number>;
  readonly days: ReadonlySet<number>;
  readonly months: ReadonlySet<number>;
  readonly weekdays: ReadonlySet<number>;
  /** Both days are named: either will do. */
  readonly isEither: boolean;
}

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;
/** The 29th of February comes again within eight years. */
const mostDays = 8 * 366;

/** The next time after this one, in milliseconds since 1970; undefined when the text is no such time, or it never comes. */
export function nextCronTime(cron: string, after: number, zone = 'UTC'): number | undefined {
  const fields = readCron(cron);
  const offsetAt = offsetsOf(zone);
  if (!fields || !offsetAt) return undefined;
  const start = after + offsetAt(after);
  for (let day = 0; day < mostDays; day++) {
    const midnight = Math.floor(start / dayMs) * dayMs + day * dayMs;
    if (!isOn(fields, new Date(midnight))) continue;
    for (const hour of sorted(fields.hours))
      for (const minute of sorted(fields.minutes)) {
        const wall = midnight + (hour * 60 + minute) * minuteMs;
        const time = wall - offsetAt(wall - offsetAt(wall));
        // A time that clocks leave out when they go forward does not come on that day.
        if (time > after && time + offsetAt(time) === wall) return time;
      }
  }
  return undefined;
}

function readCron(text: string): CronFields | undefined {
  const [minute, hour, day, month, weekday, ...rest] = text.trim().split(/\s+/);
  if (weekday === undefined || rest.length > 0) return undefined;
  const minutes = readField(minute, { least: 0, most: 59 });
  const hours = readField(hour, { least: 0, most: 23 });
  const days = readField(day, { least: 1, most: 31 });
  const months = readField(month, { least: 1, most: 12, names: monthNames });
  const weekdays = readField(weekday, { least: 0, most: 7, names: dayNames });
  if (!minutes || !hours || !days || !months || !weekdays) return undefined;
  const isEither = day !== '*' && weekday !== '*';
  return { minutes, hours, days, months, weekdays, isEither };
}

const monthNames = ['', 'jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const dayNames = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];

interface Range {
  readonly least: number;
  readonly most: number;
  readonly names?: readonly string[];
}

function readField(text = '', range: Range): ReadonlySet<number> | undefined {
  const values = new Set<number>();
  for (const part of text.split(',')) {
    const [, first, last, step] = /^(\*|\w+)(?:-(\w+))?(?:\/(\d+))?$/.exec(part) ?? [];
    const from = first === '*' ? range.least : numberIn(first, range);
    const end = last === undefined ? undefined : numberIn(last, range);
    const isOpen = first === '*' || (step !== undefined && last === undefined);
    const to = end ?? (isOpen ? range.most : from);
    const by = step === undefined ? 1 : Number(step);
    if (from === undefined || to === undefined || (last !== undefined && end === undefined)) return undefined;
    if (by < 1 || from > to) return undefined;
    for (let value = from; value <= to; value += by) values.add(range.names === dayNames ? value % 7 : value);
  }
  return values;
}

function numberIn(text: string | undefined, { least, most, names = [] }: Range): number | undefined {
  const named = names.indexOf((text ?? '').toLowerCase());
  const value = named > 0 || (named === 0 && names[0] !== '') ? named : Number(text);
  return /^\w+$/.test(text ?? '') && Number.isInteger(value) && value >= least && value <= most
    ? value
    : undefined;
}

function isOn(fields: CronFields, date: Date): boolean {
  if (!fields.months.has(date.getUTCMonth() + 1)) return false;
  const isDay = fields.days.has(date.getUTCDate());
  const isWeekday = fields.weekdays.has(date.getUTCDay());
  return fields.isEither ? isDay || isWeekday : isDay && isWeekday;
}

function sorted(values: ReadonlySet<number>): readonly number[] {
  return [...values].sort((one, other) => one - other);
}

/** How far a zone's clocks are ahead of UTC at a time; undefined for a zone that is not known. */
function offsetsOf(zone: string): ((time: number) => number) | undefined {
  try {
    const format = new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
    return (time) => {
      const parts = Object.fromEntries(
        format.formatToParts(time).map(({ type, value }) => [type, Number(value)]),
      );
      const { year = 0, month = 1, day, hour, minute, second } = parts;
      return Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(time / 1000) * 1000;
    };
  } catch {
    return undefined;
  }
}
