// Tokenizes all programs of the tests, and checks what holds of every one: names and comments have
// their scopes, no bytes but blanks are without one, and nothing stays open at the end of a line.

import fs from 'node:fs'
import path from 'node:path'
import { createRequire } from 'node:module'

const require = createRequire(path.resolve('package.json'))
const oniguruma = require('vscode-oniguruma')
const textmate = require('vscode-textmate')

const root = path.resolve(process.argv[2] ?? '../..')
const languages = {
  '.mlir': { scope: 'source.mlir', comment: '//', sign: /^[%@^]/ },
  '.ll': { scope: 'source.llvm', comment: ';', sign: /^[%@]/ },
}

/** Programs with errors in their tokens have names with one of these words. */
const wrongOnPurpose = /errors|malformed/

async function registry() {
  const wasm = fs.readFileSync(require.resolve('vscode-oniguruma/release/onig.wasm'))
  await oniguruma.loadWASM(wasm)
  const onigLib = Promise.resolve({
    createOnigScanner: (patterns) => new oniguruma.OnigScanner(patterns),
    createOnigString: (text) => new oniguruma.OnigString(text),
  })
  const loadGrammar = async (scope) => {
    const file = path.resolve('syntaxes', `${scope.split('.')[1]}.tmLanguage.json`)
    return textmate.parseRawGrammar(fs.readFileSync(file, 'utf8'), file)
  }
  return new textmate.Registry({ onigLib, loadGrammar })
}

function* programs(folder) {
  for (const entry of fs.readdirSync(folder, { withFileTypes: true })) {
    const full = path.join(folder, entry.name)
    if (entry.isDirectory()) {
      if (entry.name !== 'target' && entry.name !== 'node_modules' && !entry.name.startsWith('.')) yield* programs(full)
    } else if (languages[path.extname(entry.name)] && !wrongOnPurpose.test(entry.name)) {
      yield full
    }
  }
}

/** Returns what is wrong with the tokens of a line. */
function complaint(line, tokens, { comment, sign }) {
  for (const { startIndex, endIndex, scopes } of tokens) {
    const text = line.slice(startIndex, endIndex)
    const scope = scopes[scopes.length - 1]
    if (text.trim() === '') continue
    if (scopes.length === 1) return `'${text}' has no scope`
    const kind = scope.split('.')[0]
    const isText = scopes.some((own) => own.startsWith('string') || own.startsWith('comment'))
    if (isText) continue
    if (sign.test(text) && !['variable', 'entity'].includes(kind)) return `'${text}' is ${scope}`
    if (text.startsWith(comment)) return `'${text}' is ${scope}`
  }
}

const grammars = await registry()
let files = 0
let lines = 0
const wrong = []
for (const file of programs(root)) {
  const language = languages[path.extname(file)]
  const grammar = await grammars.loadGrammar(language.scope)
  let state = textmate.INITIAL
  files += 1
  const all = fs.readFileSync(file, 'utf8').split('\n')
  for (const [at, line] of all.entries()) {
    lines += 1
    const done = grammar.tokenizeLine(line, state)
    const why = complaint(line, done.tokens, language) ?? (done.ruleStack.depth > 1 ? 'a string stays open' : undefined)
    if (why) wrong.push(`${path.relative(root, file)}:${at + 1}: ${why}`)
    state = why ? textmate.INITIAL : done.ruleStack
  }
}
console.log(`${files} files, ${lines} lines, ${wrong.length} wrong`)
wrong.slice(0, 40).forEach((line) => console.log(line))
process.exit(wrong.length === 0 && files > 0 ? 0 : 1)
