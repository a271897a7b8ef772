/** Issues, their comments and reactions. */
import { Hono } from 'hono';
import { z } from 'zod';
import { accessRepository, type Need } from '../access.ts';
import { ApiError, notFound, validationFailed } from '../api-error.ts';
import type { Comments } from '../comments.ts';
import {
  addComment,
  type Comment,
  changeComment,
  type Discussions,
  findIssue,
  type Issue,
  reactionKinds,
  removeComment,
} from '../discussion.ts';
import type { ApiContext, ApiEnv } from '../pipeline.ts';
import { idParam, pageOf, readBody } from '../request.ts';
import type { Account, GithubState } from '../state.ts';
import { commentView, issueView, reactionView } from '../views/issue.ts';
import type { Webhooks } from '../webhooks.ts';

const longestBody = 65_536;
const bodySchema = z.object({ body: z.string() });
const reactionSchema = z.object({ content: z.enum(reactionKinds) });

export function issueRoutes(
  state: GithubState,
  discussions: Discussions,
  comments: Comments,
  webhooks: Webhooks,
): Hono<ApiEnv> {
  const routes = new Hono<ApiEnv>();
  const commentsOf = (issue: Issue): Comment[] => discussions.comments.filter((each) => each.issue === issue);

  routes.get('/repos/:owner/:repo/issues', (c) => {
    const repository = accessRepository(state, c, { permission: 'issues', level: 'read' });
    const wanted = c.req.query('state') ?? 'open';
    const found = discussions.issues.filter((issue) => {
      return issue.repository === repository && (wanted === 'all' || issue.state === wanted);
    });
    const page = pageOf(c, found.toReversed());
    return c.json(page.map((issue) => issueView(state, issue, commentsOf(issue).length)));
  });

  routes.get('/repos/:owner/:repo/issues/:number', (c) => {
    const issue = requireIssue(c, 'read');
    return c.json(issueView(state, issue, commentsOf(issue).length));
  });

  routes.get('/repos/:owner/:repo/issues/:number/comments', (c) => {
    const found = commentsOf(requireIssue(c, 'read'));
    return c.json(pageOf(c, found).map((each) => commentView(state, each)));
  });

  routes.post('/repos/:owner/:repo/issues/:number/comments', (c) => {
    const issue = requireIssue(c, 'write');
    if (issue.locked && c.get('caller').kind !== 'user') {
      throw new ApiError(403, 'Unable to create comment because issue is locked.');
    }
    const comment = addComment(state, discussions, { issue, author: author(c), body: readText(c) });
    tell(c, comment, 'created');
    return c.json(commentView(state, comment), 201);
  });

  routes.get('/repos/:owner/:repo/issues/comments/:id', (c) =>
    c.json(commentView(state, requireComment(c, 'read'))),
  );

  routes.patch('/repos/:owner/:repo/issues/comments/:id', (c) => {
    const comment = requireComment(c, 'write');
    const from = comment.body;
    changeComment(state, comment, readText(c));
    tell(c, comment, 'edited', { changes: { body: { from } } });
    return c.json(commentView(state, comment));
  });

  routes.delete('/repos/:owner/:repo/issues/comments/:id', (c) => {
    const comment = requireComment(c, 'write');
    removeComment(discussions, comment);
    tell(c, comment, 'deleted');
    return c.body(null, 204);
  });

  routes.get('/repos/:owner/:repo/issues/comments/:id/reactions', (c) => {
    return c.json(pageOf(c, requireComment(c, 'read').reactions).map((each) => reactionView(state, each)));
  });

  routes.post('/repos/:owner/:repo/issues/comments/:id/reactions', (c) => {
    const comment = requireComment(c, 'write');
    const { content } = readBody(c, reactionSchema);
    const account = author(c);
    const present = comment.reactions.find((each) => each.content === content && each.account === account);
    if (present) return c.json(reactionView(state, present), 200);
    const reaction = { id: state.nextId(), content, account, createdAtMs: state.nowMs() };
    comment.reactions.push(reaction);
    return c.json(reactionView(state, reaction), 201);
  });

  /** On a pull request either permission will do; on a plain issue only the one for issues. */
  function allow(c: ApiContext, issue: Issue, level: Need['level']): void {
    accessRepository(state, c, { permission: issue.pull ? ['issues', 'pull_requests'] : 'issues', level });
  }

  function requireIssue(c: ApiContext, level: Need['level']): Issue {
    const repository = accessRepository(state, c, { permission: 'metadata', level: 'read' });
    const issue = findIssue(discussions, repository, idParam(c, 'number'));
    if (!issue) throw notFound();
    allow(c, issue, level);
    return issue;
  }

  function requireComment(c: ApiContext, level: Need['level']): Comment {
    const repository = accessRepository(state, c, { permission: 'metadata', level: 'read' });
    const id = idParam(c, 'id');
    const comment = discussions.comments.find(
      (each) => each.id === id && each.issue.repository === repository,
    );
    if (!comment) throw notFound();
    allow(c, comment.issue, level);
    return comment;
  }

  function tell(c: ApiContext, comment: Comment, action: 'created' | 'edited' | 'deleted', more = {}): void {
    const event = comments.event(comment, action, author(c), more);
    if (event) webhooks.sendLater(event);
  }

  function author(c: ApiContext): Account {
    const caller = c.get('caller');
    return caller.kind === 'user' ? caller.account : state.app.bot;
  }

  return routes;
}

function readText(c: ApiContext): string {
  const { body } = readBody(c, bodySchema);
  const refusal = (message: string) =>
    validationFailed({ resource: 'IssueComment', code: 'unprocessable', field: 'data', message });
  if (body.trim() === '') throw refusal('Body cannot be blank');
  if ([...body].length > longestBody)
    throw refusal(`Body is too long (maximum is ${longestBody} characters)`);
  return body;
}
