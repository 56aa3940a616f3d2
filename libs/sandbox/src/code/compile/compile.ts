import ts from 'typescript'
import type { Diagnostic } from '../types.js'
import type { CompileReply, CompileRequest } from './messages.js'
import { syntaxFault } from './syntax.js'
import { trackPromises } from './track-promises.js'

const sdk = '@opsplane/sdk'

const compilerOptions: ts.CompilerOptions = {
  target: ts.ScriptTarget.ES2022,
  module: ts.ModuleKind.ESNext,
  moduleDetection: ts.ModuleDetectionKind.Force,
  isolatedModules: true,
  sourceMap: true,
  allowJs: true,
  removeComments: true,
}

/** Compiles one module to one module, without type checking. */
export async function compileModule({ source, fileName }: CompileRequest): Promise<CompileReply> {
  const file = ts.createSourceFile(fileName, source, compilerOptions.target ?? ts.ScriptTarget.ES2022, false)
  const diagnostics = [...foreignImports(file)]
  if (fileName.endsWith('x'))
    diagnostics.push(at(file, 0, 'JSX is not compiled: there is nothing to show it.'))
  const result = ts.transpileModule(source, {
    ...{ fileName, reportDiagnostics: true, compilerOptions },
    transformers: { before: [trackPromises] },
  })
  for (const { messageText, start = 0 } of result.diagnostics ?? [])
    diagnostics.push(at(file, start, ts.flattenDiagnosticMessageText(messageText, ' ')))
  if (diagnostics.length > 0) return { diagnostics: diagnostics.slice(0, 100) }
  const script = withoutMapComment(result.outputText)
  const map = result.sourceMapText ?? '{}'
  const fault = await syntaxFault(script, map)
  return fault ? { diagnostics: [fault] } : { script, map }
}

function at(file: ts.SourceFile, position: number, message: string): Diagnostic {
  const { line, character } = file.getLineAndCharacterOfPosition(position)
  return { message, line: line + 1, column: character + 1 }
}

/** Reports every import of another module. */
function* foreignImports(file: ts.SourceFile): Generator<Diagnostic> {
  for (const statement of file.statements) {
    const specifier = importedBy(statement)
    if (specifier && specifier.text !== sdk) yield importDiagnostic(file, specifier, specifier.text)
  }
  // Dynamic imports are calls, which may appear anywhere.
  const waiting: ts.Node[] = [...file.statements]
  for (let node = waiting.pop(); node; node = waiting.pop()) {
    if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword)
      yield at(file, node.getStart(file), `Only "${sdk}" can be imported, and only by an import declaration.`)
    ts.forEachChild(node, (child) => void waiting.push(child))
  }
}

function importedBy(statement: ts.Statement): ts.StringLiteral | undefined {
  if (ts.isImportDeclaration(statement) && !statement.importClause?.isTypeOnly)
    return textOf(statement.moduleSpecifier)
  if (ts.isExportDeclaration(statement) && !statement.isTypeOnly) return textOf(statement.moduleSpecifier)
  if (ts.isImportEqualsDeclaration(statement) && ts.isExternalModuleReference(statement.moduleReference))
    return textOf(statement.moduleReference.expression)
  return undefined
}

const textOf = (node: ts.Expression | undefined): ts.StringLiteral | undefined =>
  node && ts.isStringLiteral(node) ? node : undefined

const importDiagnostic = (file: ts.SourceFile, node: ts.Node, name: string): Diagnostic =>
  at(
    file,
    node.getStart(file),
    `Only "${sdk}" can be imported, not "${name.slice(0, 100)}": bundle it with \`opsplane packs\`, or use \`import type\` for types.`,
  )

/** The compiler appends a source map comment. The source may contain more of them, so only the last one is removed. */
function withoutMapComment(output: string): string {
  const at = output.lastIndexOf('//# sourceMappingURL=')
  return at === -1 ? output : output.slice(0, at).replace(/\n$/, '')
}
