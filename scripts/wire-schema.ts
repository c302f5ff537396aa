import type { EventTable, MethodTable, NotificationTable } from '@groundcrew/protocol';
import {
  callbacks,
  errorCodes,
  eventEnvelope,
  events,
  failureCodes,
  hookPoints,
  methods,
  notifications,
  protocolVersion,
} from '@groundcrew/protocol';
import * as z from 'zod/mini';

/** A JSON Schema, as far as the page looks into it. */
export interface Schema {
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly examples?: readonly unknown[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
}

/** The whole contract as JSON Schema, in an order that only changes when the contract does. */
export function wireSchema() {
  return {
    protocolVersion,
    errorCodes,
    failureCodes,
    methods: methodSchemas(methods),
    callbacks: methodSchemas(callbacks),
    hookPoints: methodSchemas(hookPoints),
    notifications: sorted(notifications as NotificationTable, ({ summary, params }) => ({
      summary,
      params: jsonSchema(params(), 'output'),
    })),
    eventEnvelope: jsonSchema(eventEnvelope(), 'output'),
    events: sorted(events as EventTable, ({ summary, durable, data }) => ({
      summary,
      durable,
      data: jsonSchema(data(), 'output'),
    })),
  };
}

function methodSchemas(table: MethodTable) {
  return sorted(table, ({ summary, params, result }) => ({
    summary,
    params: jsonSchema(params(), 'input'),
    result: jsonSchema(result(), 'output'),
  }));
}

function jsonSchema(schema: z.ZodMiniType, io: 'input' | 'output'): Schema {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io, override: withoutDefaults });
  return rest as Schema;
}

/** That other fields may come goes without saying in JSON Schema. */
function withoutDefaults({ jsonSchema }: { jsonSchema: z.core.JSONSchema.BaseSchema }): void {
  if (JSON.stringify(jsonSchema.additionalProperties) === '{}') delete jsonSchema.additionalProperties;
}

function sorted<T, R>(table: Readonly<Record<string, T>>, each: (entry: T) => R): Record<string, R> {
  const names = Object.entries(table).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(names.map(([name, entry]) => [name, each(entry)]));
}
