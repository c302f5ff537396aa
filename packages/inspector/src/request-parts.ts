/** What of a request fills the window, in characters, and its largest pieces. */
export interface RequestParts {
  readonly systemPrompt: number;
  readonly systemTools: number;
  readonly messages: number;
  readonly pieces: readonly Piece[];
}

/** One piece of a request. */
export interface Piece {
  readonly kind: string;
  readonly label: string;
  readonly characters: number;
}

interface Named {
  readonly role?: string;
  readonly type?: string;
  readonly name?: string;
  readonly function?: { readonly name?: string };
}

/** Takes the body of a request apart, whichever of the three wires it is of; undefined when it is none. */
export function requestParts(body: string): RequestParts | undefined {
  const parsed = parse(body);
  if (!parsed) return undefined;
  const list = (value: unknown) => (Array.isArray(value) ? (value as readonly Named[]) : []);
  const messages = [...list(parsed.messages), ...list(parsed.input)];
  const system = [parsed.system, parsed.instructions].filter((each) => each !== undefined);
  const isSystem = ({ role }: Named) => role === 'system' || role === 'developer';
  const pieces: Piece[] = [
    ...[...system, ...messages.filter(isSystem)].map((each) => piece('system prompt', '', each)),
    ...list(parsed.tools).map((tool) => piece('tool', tool.function?.name ?? tool.name ?? '', tool)),
    ...messages
      .filter((each) => !isSystem(each))
      .map((each, index) => piece('message', `${index + 1} ${each.role ?? each.type ?? ''}`, each)),
  ];
  const sum = (kind: string) =>
    pieces.reduce((total, each) => total + (each.kind === kind ? each.characters : 0), 0);
  return {
    systemPrompt: sum('system prompt'),
    systemTools: sum('tool'),
    messages: sum('message'),
    pieces,
  };
}

function piece(kind: string, label: string, value: unknown): Piece {
  return { kind, label, characters: JSON.stringify(value).length };
}

function parse(body: string): Readonly<Record<string, unknown>> | undefined {
  try {
    return JSON.parse(body) as Readonly<Record<string, unknown>>;
  } catch {
    // A body that is no JSON gives the reason why there is no request.
    return undefined;
  }
}
