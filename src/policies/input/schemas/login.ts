import { z } from 'zod';

export const loginInput = z.object({
  request: z
    .object({
      remote_ip: z
        .string()
        .nullable()
        .describe('Address of the other end of the connection, a proxy perhaps; null when there is none.'),
      timestamp_ns: z
        .number()
        .meta({ type: 'integer' })
        .describe('When it is judged: the only clock that policies have.'),
    })
    .describe('About the login.'),
  session: z
    .object({
      login: z.string().describe('Login on GitHub, in lower case. Logins change hands.'),
      id: z.int().describe("GitHub's id of the person, which does not."),
      email: z.string().describe('Public address on GitHub, or the noreply address.'),
      member: z.boolean().describe('Whether `accounts` has anything in it.'),
      admin: z.boolean().describe('Whether ADMINS names them: they are let in whatever policies say.'),
    })
    .describe('Who logs in.'),
  accounts: z
    .array(z.string())
    .describe(
      'Logins of the accounts with the App in which the person may see a repository; in lower case, sorted.',
    ),
  teams: z
    .array(z.string())
    .nullable()
    .describe(
      'Their teams as `org/slug`, with the team above each; in lower case, sorted. Null when the App may not ask.',
    ),
});
