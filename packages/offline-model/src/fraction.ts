/** A number without rounding. */
export interface Fraction {
  readonly over: bigint;
  readonly under: bigint;
}

/** An expression that has no value, or is none. */
export class NoValue extends Error {
  override readonly name = 'NoValue';

  constructor(
    readonly kind: 'undefined' | 'malformed',
    reason: string,
  ) {
    super(reason);
  }
}

/** Computes an expression of + - * / % ^ and parentheses, exactly; `@` stands for an earlier value. */
export function evaluate(expression: string, earlier?: Fraction): Fraction {
  const tokens = expression.match(/\d+(?:\.\d+)?|\.\d+|\S/g) ?? [];
  let at = 0;
  const binary = (level: number): Fraction => {
    const operators = levels[level];
    if (operators === undefined) return unary();
    let left = binary(level + 1);
    for (let operate = operators[tokens[at] ?? '']; operate; operate = operators[tokens[at] ?? '']) {
      at++;
      left = operate(left, binary(level + 1));
    }
    return left;
  };
  const unary = (): Fraction => {
    if (tokens[at] === '-' || tokens[at] === '+')
      return tokens[at++] === '-' ? times(unary(), whole(-1n)) : unary();
    const base = atom();
    if (tokens[at] !== '^') return base;
    at++;
    return power(base, unary());
  };
  const atom = (): Fraction => {
    const token = tokens[at++] ?? '';
    if (token === '@' && earlier) return earlier;
    if (/\d/.test(token)) return readFraction(token);
    if (token !== '(') throw new NoValue('malformed', 'not an expression');
    const inner = binary(0);
    if (tokens[at++] !== ')') throw new NoValue('malformed', 'a parenthesis is open');
    return inner;
  };
  const value = binary(0);
  if (at < tokens.length) throw new NoValue('malformed', 'not an expression');
  return value;
}

/** The number that decimal digits stand for. */
export function readFraction(text: string): Fraction {
  const [integer = '', decimals = ''] = text.split('.');
  return reduced(BigInt(integer + decimals), 10n ** BigInt(decimals.length));
}

/** `= 3`, `= 0.3`, or `≈ 0.333333333333` where digits go on. */
export function writeFraction({ over, under }: Fraction): string {
  const scaled = (over < 0n ? -over : over) * 10n ** 12n;
  const digits = String((scaled * 2n + under) / (under * 2n)).padStart(13, '0');
  const decimals = digits.slice(-12).replace(/0+$/, '');
  const sign = over < 0n ? '-' : '';
  return `${scaled % under === 0n ? '=' : '≈'} ${sign}${digits.slice(0, -12)}${decimals && `.${decimals}`}`;
}

type Operate = (left: Fraction, right: Fraction) => Fraction;

const longestPower = 1000n;
const whole = (over: bigint): Fraction => ({ over, under: 1n });
const times: Operate = (a, b) => reduced(a.over * b.over, a.under * b.under);
const plus: Operate = (a, b) => reduced(a.over * b.under + b.over * a.under, a.under * b.under);
const minus: Operate = (a, b) => plus(a, times(b, whole(-1n)));
const divided: Operate = (a, b) => times(a, inverse(b));
const remainder: Operate = (a, b) => {
  const { over, under } = divided(a, b);
  return minus(a, times(b, whole(over / under)));
};
const levels: readonly Readonly<Record<string, Operate>>[] = [
  { '+': plus, '-': minus },
  { '*': times, '/': divided, '%': remainder },
];

function inverse({ over, under }: Fraction): Fraction {
  if (over === 0n) throw new NoValue('undefined', 'division by zero is not defined');
  return reduced(under, over);
}

function power(base: Fraction, { over, under }: Fraction): Fraction {
  if (under !== 1n) return rooted(base, Number(over) / Number(under));
  if (over < 0n) return power(inverse(base), whole(-over));
  const size = BigInt(Math.max(String(base.over).length, String(base.under).length));
  if (over * size > longestPower) throw new NoValue('undefined', 'the result is too long to write down');
  return { over: base.over ** over, under: base.under ** over };
}

function rooted({ over, under }: Fraction, exponent: number): Fraction {
  const value = (Number(over) / Number(under)) ** exponent;
  if (!(Math.abs(value) < 1e21)) throw new NoValue('undefined', 'the root is not a real number');
  return readFraction(value.toFixed(12));
}

function reduced(over: bigint, under: bigint): Fraction {
  let [divisor, rest] = [over < 0n ? -over : over, under < 0n ? -under : under];
  while (rest !== 0n) [divisor, rest] = [rest, divisor % rest];
  const sign = under < 0n ? -divisor : divisor;
  return { over: over / sign, under: under / sign };
}
