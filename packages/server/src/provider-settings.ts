import type { Methods, ParsedParams } from '@groundcrew/protocol';
import {
  type NamedProvider,
  type ProviderSettings,
  providerSettings,
  type RegistryModel,
  type Session,
} from '@groundcrew/runtime';
import { withoutNullsDeep } from './nulls.js';

type Params = ParsedParams<Methods['session.resume']>;
type Wire = { readonly [K in 'provider' | 'providers' | 'models']?: Params[K] | undefined };

/** A model service as a client describes it, without its fields that are `null`. */
export function providerFrom(provider: NonNullable<Wire['provider']>): ProviderSettings {
  return withoutNullsDeep(provider) as ProviderSettings; // parsed by the protocol's table, which allows nulls
}

/** Named model services and their models. */
export function registryFrom({ providers, models }: Pick<Wire, 'providers' | 'models'>): {
  readonly providers: readonly NamedProvider[];
  readonly models: readonly RegistryModel[];
} {
  return {
    providers: withoutNullsDeep(providers ?? []) as readonly NamedProvider[],
    models: withoutNullsDeep(models ?? []) as readonly RegistryModel[],
  };
}

/** The services whose tokens a client gives. */
export function tokenProvidersOf({ provider, providers }: Wire): readonly string[] {
  const named = (providers ?? []).filter((each) => each.hasBearerTokenProvider).map(({ name }) => name);
  return provider?.hasBearerTokenProvider ? [providerSettings.defaultName, ...named] : named;
}

/** The client that names a service whose tokens it gives is asked for them from now on. */
export function giveTokens(session: Session, clientId: string, names: readonly string[]): void {
  const attachment = session.audience.get(clientId);
  if (!attachment || names.length === 0) return;
  const tokenProviders = [...new Set([...attachment.tokenProviders, ...names])];
  session.attach({ ...attachment, tokenProviders });
}
