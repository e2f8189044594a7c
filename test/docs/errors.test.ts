// docs/errors.md is the catalogue in src/model/errors.ts, worded for a reader. After a change there:
// npx vitest run test/docs --update
import { expect, test } from 'vitest'
import { ERRORS } from '../../src/model/errors.ts'

const HEAD = `# Errors

Every error that a person can meet, from the catalogue in \`src/model/errors.ts\`. A command prints its error on
stderr in three parts: the meaning, the details, and what to do. Details are names of files, fields and variables,
never values. The exit code is 1 when the command failed, and 2 when the command line, the configuration or the
environment is wrong.`

test('the page of errors says what the catalogue says', async () => {
  const entries = Object.entries(ERRORS).map(
    ([code, { exit, means, todo }]) => `## ${code}\n\n${means}\n\nWhat to do: ${todo}\n\nExit code ${exit}.`,
  )
  await expect(`${[HEAD, ...entries].join('\n\n')}\n`).toMatchFileSnapshot('../../docs/errors.md')
})
