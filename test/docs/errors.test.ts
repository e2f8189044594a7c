// docs/errors.md is the catalogue in src/model/errors.ts, worded for a reader. After a change there:
// npx vitest run test/docs --update
import { expect, test } from 'vitest'
import { ERRORS } from '../../src/model/errors.ts'

const HEAD = `# Errors

All errors with which a command or a worker can end, from the catalogue in \`src/model/errors.ts\`. A command prints its
error on stderr in three parts: the meaning, the details, and what to do. "Named above" in a text means the details. They
name files, fields and variables, and never contain values. The exit code is 1 when the command failed. It is 2 when the
command line, the configuration or the environment is wrong.`

test('the page of errors says what the catalogue says', async () => {
  const entries = Object.entries(ERRORS).map(
    ([code, { means, todo, ...more }]) =>
      `## ${code}\n\n${means}\n\nWhat to do: ${todo}\n\nExit code ${'exit' in more ? 1 : 2}.`,
  )
  await expect(`${[HEAD, ...entries].join('\n\n')}\n`).toMatchFileSnapshot('../../docs/errors.md')
})
