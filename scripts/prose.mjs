// Plain words: finds sentences in README, docs and comments that are too long, or that begin with a word that hides who
// does what. Exit code 1 if it finds any.
//   node scripts/prose.mjs [FILE …]
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

const MOST_WORDS = 25
const LABEL = 'What to do:'
const HIDES = /^(?:What|Whoever|Who|Whose|Whom|Of|That|Those)\b/

/** Code and links count as one word or as their text. */
function plain(text) {
  return text
    .replaceAll(/`[^`]*`/g, 'code')
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll(/[*_]/g, '')
    .replaceAll(/\s+/g, ' ')
    .trim()
}

/** A colon or a semicolon ends a thought as well. */
const sentencesOf = (text) => plain(text).split(/(?<=[.!?:;])\s+/)

/** Paragraphs, items of lists and cells of tables; no headings and no blocks of code. */
function paragraphs(markdown) {
  return markdown
    .replaceAll(/^```.*?^```/gms, '')
    .split(/\n\s*\n|\n(?=\s*(?:[-*]|\d+\.) )|\n(?=\|)/)
    .filter((block) => !block.startsWith('#'))
    .flatMap((block) => (block.startsWith('|') ? block.split(' | ') : [block]))
    .map((block) => block.replace(/^[\s|]*(?:(?:[-*]|\d+\.) )?/, '').replace(/[\s|]*$/, ''))
}

/** Comments of lines that follow each other are one; a tag begins another sentence. */
function comments(code) {
  const blocks = code.match(/\/\*\*[\s\S]*?\*\/|^[ \t]*\/\/ .*(?:\n[ \t]*\/\/ .*)*/gm) ?? []
  return blocks.flatMap((block) =>
    block.replaceAll(/^[ \t]*(?:\/\*\*|\*\/|\*|\/\/)|\*\/$/gm, '').split(/\n(?=\s*(?:@|[-*] ))|\n\s*\n/),
  )
}

function problemsOf(file) {
  const text = readFileSync(file, 'utf8')
  const found = (file.endsWith('.md') ? paragraphs(text) : comments(text)).flatMap(sentencesOf)
  return found.flatMap((sentence) => {
    const words = sentence.split(' ').length
    if (words > MOST_WORDS) return [`${file}: ${words} words: ${sentence}`]
    return HIDES.test(sentence) && !/\?$/.test(sentence) && sentence !== LABEL ? [`${file}: ${sentence}`] : []
  })
}

const listed = process.argv.slice(2)
const tracked = () =>
  execFileSync(
    'git',
    ['ls-files', '*.md', ...['src', 'test', 'bench', 'scripts'].map((folder) => `${folder}/**.*s`)],
    { encoding: 'utf8' },
  )
    .split('\n')
    .filter(Boolean)
const files = listed.length > 0 ? listed : tracked()
const problems = files.flatMap(problemsOf)
process.stderr.write(
  [...problems, `${files.length} files, ${problems.length} sentences to rewrite\n`].join('\n'),
)
process.exitCode = problems.length > 0 ? 1 : 0
