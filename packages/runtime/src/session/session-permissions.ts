import type { GatePermissions } from '../gate/call-permissions.js';
import { openQuestions, type SessionState } from '../log/state.js';
import { addressCovers, isHost } from '../permissions/addresses.js';
import type { ApprovalBook } from '../permissions/approval-book.js';
import {
  type BookContents,
  BookFault,
  emptyBook,
  locationOf,
  withApproval,
} from '../permissions/book-contents.js';
import { checkDecision, type Decision, outcomeOf, type PermissionOutcome } from '../permissions/decision.js';
import type { Approval, PermissionMode, PolicyRules, Prohibitions } from '../permissions/policy.js';
import type { PermissionRequest } from '../permissions/question.js';
import { withRealPaths } from '../permissions/real-rules.js';
import { checkBounds } from '../permissions/rule-bounds.js';
import type { Rule } from '../permissions/rules.js';
import { noSwitches, type PermissionChange, type PermissionSwitches } from '../permissions/settings.js';
import { examine } from '../permissions/subject.js';
import type { UserRules } from '../permissions/user-rules.js';
import type { Audience } from './audience.js';
import { PermissionPlaces, type PlacedSession } from './permission-places.js';

/** The session whose permissions these are. */
export interface PermittedSession extends PlacedSession {
  readonly audience: Audience;
  readonly tools: {
    /** By its name, a short form of how each tool of an MCP server is described now. */
    versionsOf(serverName: string): Readonly<Record<string, string>>;
  };
  /** False when the question was answered before. */
  answer(
    question: { readonly kind: 'permission'; readonly requestId: string },
    outcome: PermissionOutcome,
  ): Promise<boolean>;
}

/** What of permissions lies outside the session. */
export interface PermissionSources {
  readonly book: ApprovalBook;
  userRules(): UserRules;
}

/** What may run in a session: all that users, clients and the user's own rules have said. */
export class SessionPermissions {
  readonly places: PermissionPlaces;
  private switches: PermissionSwitches = noSwitches;
  private lastWarning: string | undefined;

  constructor(
    private readonly session: PermittedSession,
    private readonly sources: PermissionSources,
  ) {
    this.places = new PermissionPlaces(session, sources.book, () => this.switches);
  }

  /** What rules deny now; approvals do not change that. */
  prohibitions({ permissions, context }: SessionState): Prohibitions {
    const { deny, problem } = this.sources.userRules();
    return {
      deny: withRealPaths([...deny, ...permissions.deny], context.cwd),
      ...(problem !== undefined && { problem }),
    };
  }

  /** The same as the gate asks for it. */
  forGate(log: { readonly state: SessionState }): GatePermissions {
    return {
      policy: () => this.policy(log.state),
      prohibitions: () => this.prohibitions(log.state),
      warning: () => this.warning(),
    };
  }

  /** All that a verdict rests on, as it is now. */
  policy(state: SessionState): PolicyRules {
    const { permissions } = state;
    const { allow } = this.sources.userRules();
    const { contents } = this.book();
    const here = [this.places.ownLocation(state), ...permissions.locations];
    const kept = here.map((key) => locationOf(contents, key));
    return {
      ...this.prohibitions(state),
      allow: [
        ...allow,
        ...permissions.allow,
        ...kept.flatMap((entry) => entry.rules),
        ...permissions.urls.map((argument): Rule => ({ kind: 'url', argument })),
      ],
      approvals: [
        ...state.approvals,
        ...kept.flatMap((entry) => entry.approvals),
        ...contents.domains.map((domain): Approval => ({ kind: 'url', domain })),
      ],
      mode: permissions.mode,
      ...this.switches,
      canAsk: this.session.audience.answersPermissions,
      ...(this.session.audience.unasked && { unasked: this.session.audience.unasked }),
      directories: this.places.realDirectories(state),
      home: this.places.home,
    };
  }

  /** A warning about rules that cannot be read; each one once. */
  warning(): string | undefined {
    const now = this.sources.userRules().problem ?? this.book().problem;
    const isNew = now !== this.lastWarning;
    this.lastWarning = now;
    return isNew ? now : undefined;
  }

  /** Who answers questions. */
  async mode(): Promise<PermissionMode> {
    return (await this.session.state()).permissions.mode;
  }

  /** Every client receives a change. */
  async setMode(mode: PermissionMode, assistedApprovalModel?: string): Promise<void> {
    const previousMode = await this.mode();
    if (mode === previousMode) return;
    const model = assistedApprovalModel !== undefined && { assistedApprovalModel };
    await this.session.record({
      type: 'session.permissions_changed',
      data: { previousMode, mode, ...model },
    });
  }

  /** For as long as the session is open; what is left out stays. */
  switch(change: Partial<PermissionSwitches>): void {
    this.switches = { ...this.switches, ...change };
  }

  /** Fixes what the log keeps; what is left out stays. Throws TooManyRules. */
  async fix(change: PermissionChange): Promise<void> {
    checkBounds(change);
    await this.session.record({ note: 'permissions.changed', data: change });
  }

  /** Whether this client wants to be asked; false when it is not attached. */
  setRequired(clientId: string, requestPermission: boolean): boolean {
    const attachment = this.session.audience.get(clientId);
    if (!attachment) return false;
    this.session.audience.attach({ ...attachment, requestPermission });
    return true;
  }

  /** False when the question was answered before; throws UnknownDecision and leaves it open. What it approves for good is kept when this resolves. */
  async answer(requestId: string, decision: Decision): Promise<boolean> {
    checkDecision(decision);
    const state = await this.session.state();
    const question = openQuestions(state).find((each) => each.requestId === requestId);
    const request = question?.kind === 'permission' ? question.event.permissionRequest : undefined;
    const whole = request ? await this.withDefinitions(decision, request, state.context.cwd) : decision;
    const isFirst = await this.session.answer({ kind: 'permission', requestId }, outcomeOf(whole));
    if (isFirst && request) await this.keep(whole, request);
    return isFirst;
  }

  /** An approval of commands is for what they run now, one of a server's tools for what they are said to do now. */
  private async withDefinitions(
    decision: Decision,
    request: PermissionRequest,
    workingDirectory: string,
  ): Promise<Decision> {
    const { approval } = decision;
    if (approval?.kind === 'commands' && request.kind === 'shell') {
      const { definitions } = await examine({ request }, { workingDirectory });
      if (Object.keys(definitions).length > 0) return { ...decision, approval: { ...approval, definitions } };
    }
    if (approval?.kind === 'mcp') {
      const { definitions: _given, ...plain } = approval;
      const definitions = this.session.tools.versionsOf(approval.serverName);
      const isKnown = Object.keys(definitions).length > 0;
      return { ...decision, approval: isKnown ? { ...plain, definitions } : plain };
    }
    return decision;
  }

  /** Keeps what a decision says beyond this call and this session's approvals. */
  private async keep(decision: Decision, request: PermissionRequest): Promise<void> {
    const { approval, locationKey, domain } = decision;
    try {
      if (decision.kind.endsWith('-for-location') && approval && locationKey !== undefined)
        await this.sources.book.change((book) => withApproval(book, locationKey, approval));
      if (domain === undefined || !isHost(domain) || !isAbout(request, domain)) return;
      if (decision.kind === 'approve-permanently')
        await this.sources.book.change((book) => withDomain(book, domain));
      if (decision.kind === 'approve-for-session' && !approval) {
        const { approvals } = await this.session.state();
        await this.fix({ approvals: [...approvals, { kind: 'url', domain }] });
      }
    } catch (error) {
      if (!(error instanceof BookFault)) throw error;
      const message = `The approval holds for this session only: ${error.message}`;
      await this.session.record({ type: 'session.warning', data: { warningType: 'permissions', message } });
    }
  }

  /** A book that cannot be read approves nothing. */
  private book(): { readonly contents: BookContents; readonly problem?: string } {
    try {
      return { contents: this.sources.book.read() };
    } catch (error) {
      if (!(error instanceof BookFault)) throw error;
      return { contents: emptyBook, problem: error.message };
    }
  }
}

/** An approval covers what was asked: a host that the question does not name is not approved by it. */
function isAbout(request: PermissionRequest, domain: string): boolean {
  if (request.kind === 'url') return addressCovers(domain, request.url);
  return request.kind === 'shell' && request.possibleUrls.some(({ url }) => addressCovers(domain, url));
}

function withDomain(book: BookContents, domain: string): BookContents {
  return book.domains.includes(domain) ? book : { ...book, domains: [...book.domains, domain] };
}
