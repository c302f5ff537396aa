import type { Environment } from '@groundcrew/models';
import { bounded, type Exchange, ModelError, readText, withoutValues } from '@groundcrew/models';

/** Who a GitHub token belongs to, as far as Copilot is concerned. */
export interface GitHubUser {
  readonly login?: string;
  readonly copilotPlan?: string;
  /** Where this user's Copilot API is. */
  readonly api?: string;
  readonly quotas: Readonly<Record<string, Quota>>;
}

/** What is left of one kind of requests. */
export interface Quota {
  readonly isUnlimitedEntitlement: boolean;
  readonly entitlementRequests: number;
  readonly usedRequests: number;
  readonly usageAllowedWithExhaustedQuota: boolean;
  readonly remainingPercentage: number;
  readonly overage: number;
  readonly overageAllowedWithExhaustedQuota: boolean;
  readonly resetDate?: string;
}

/** GitHub does not know the token, or does not let its owner in. */
class TokenRefused extends ModelError {
  constructor(reason: string) {
    super('configuration', `SDK session authentication failed: Failed to fetch Copilot user info: ${reason}`);
  }
}

const longestAnswer = 1024 * 1024;

/** A user that is slow to look up is no reason to keep users waiting. */
const patience = 10_000;

/** Looks users up where the environment names GitHub's API, and nowhere else; each token once. */
export class GitHubUsers {
  private readonly users = new Map<string, Promise<GitHubUser | undefined>>();

  constructor(private readonly sources: { readonly environment: Environment; readonly exchange: Exchange }) {}

  /** Nothing when no service can be asked or none answers. Throws TokenRefused. */
  find(token: string): Promise<GitHubUser | undefined> {
    const { COPILOT_DEBUG_GITHUB_API_URL: api } = this.sources.environment;
    if (!api) return Promise.resolve(undefined);
    const known = this.users.get(token);
    if (known !== undefined) return known;
    const user = this.ask(api, token);
    this.users.set(token, user);
    void user.then(
      (found) => found || this.users.delete(token),
      () => this.users.delete(token),
    );
    return user;
  }

  private async ask(api: string, token: string): Promise<GitHubUser | undefined> {
    const answer = await this.get(`${api.replace(/\/+$/, '')}/copilot_internal/user`, token).catch(
      unreachable,
    );
    const refusal = refusals[answer?.status ?? 0];
    if (answer && refusal) {
      const reason = withoutValues(bounded(answer.text), [token]);
      throw new TokenRefused(`${answer.status} ${refusal}: ${reason}`);
    }
    return answer?.status === 200 ? readUser(parsed(answer.text)) : undefined;
  }

  private async get(url: string, token: string): Promise<{ status: number; text: string }> {
    const headers = { accept: 'application/json', authorization: `Bearer ${token}` };
    const { status, body } = await this.sources.exchange(
      { method: 'GET', url, headers },
      AbortSignal.timeout(patience),
    );
    return { status, text: await readText(body, { maxBytes: longestAnswer }) };
  }
}

const refusals: Readonly<Record<number, string>> = { 401: 'Unauthorized', 403: 'Forbidden' };

/** Who cannot be looked up works on without a name. */
const unreachable = (): undefined => undefined;

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

type Fields = Readonly<Record<string, unknown>>;

function readUser(body: unknown): GitHubUser | undefined {
  if (typeof body !== 'object' || body === null) return undefined;
  const { login, copilot_plan: plan, endpoints, quota_snapshots: quotas } = body as Fields;
  const api = (endpoints as Fields | undefined)?.api;
  return {
    ...(typeof login === 'string' && { login }),
    ...(typeof plan === 'string' && { copilotPlan: plan }),
    ...(typeof api === 'string' && { api }),
    quotas: Object.fromEntries(
      Object.entries((quotas ?? {}) as Readonly<Record<string, Fields>>).map(([kind, raw]) => [
        kind,
        readQuota(raw),
      ]),
    ),
  };
}

function readQuota(raw: Fields): Quota {
  const entitlement = count(raw.entitlement);
  const remaining = raw.percent_remaining === undefined ? 100 : count(raw.percent_remaining);
  const isAllowed = raw.overage_permitted === true;
  return {
    isUnlimitedEntitlement: raw.unlimited === true,
    entitlementRequests: entitlement,
    usedRequests: Math.max(0, Math.round(entitlement * (1 - remaining / 100))),
    usageAllowedWithExhaustedQuota: isAllowed,
    remainingPercentage: remaining,
    overage: count(raw.overage_count),
    overageAllowedWithExhaustedQuota: isAllowed,
    ...(typeof raw.timestamp_utc === 'string' && { resetDate: raw.timestamp_utc }),
  };
}

function count(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) ? value : 0;
}
