import { z } from 'zod';

export const stack = z
  .object({
    id: z.string().describe('Identifier of the stack, unique in the account.'),
    name: z.string().describe('Name of the stack.'),
    description: z.string().describe('Description of the stack; may be empty.'),
    labels: z.array(z.string()).describe('Labels of the stack; may be empty.'),
    account: z.string().describe('Login of the account that it belongs to.'),
    namespace: z.string().describe('Owner of the repository.'),
    repository: z.string().describe('Name of the repository, without its owner.'),
    branch: z.string().describe('The tracked branch.'),
    project_root: z.string().describe('Directory in the repository; empty for the root itself.'),
    additional_project_globs: z.array(z.string()).describe('Further paths that concern the stack.'),
    autodeploy: z.boolean().describe('Whether changes are applied without a confirmation.'),
    vendor: z.string().describe('The tool.'),
    locked_by: z.string().nullable().describe('Who has locked the stack; null when it is not locked.'),
  })
  .describe('The stack.');
