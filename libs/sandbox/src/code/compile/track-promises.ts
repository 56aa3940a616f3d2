import ts from 'typescript'
import { runFunction, trackingFunction } from '../protocol.js'

const { factory } = ts
const argsName = '$opsplaneGiven'

/**
 * Makes the promises of async functions pass through `trackingFunction`, because QuickJS does not report unhandled
 * rejections: `async (a) => b` becomes `(...given) => run(async (a) => b, given)`. The body of other async functions
 * becomes a call of such an arrow function, which keeps their `this` and `super`.
 */
export const trackPromises: ts.TransformerFactory<ts.SourceFile> = (context) => (file) => {
  let isUsed = false
  const visit = (node: ts.Node): ts.Node => {
    const inner = ts.visitEachChild(node, visit, context)
    const tracked = trackedFunction(inner)
    isUsed ||= tracked !== undefined
    return tracked ?? inner
  }
  const visited = ts.visitEachChild(file, visit, context)
  // At the end, so that no line of the source moves.
  return isUsed ? factory.updateSourceFile(visited, [...visited.statements, declared()]) : visited
}

const isAsync = (modifiers: readonly ts.ModifierLike[] | undefined) =>
  modifiers?.some(({ kind }) => kind === ts.SyntaxKind.AsyncKeyword) ?? false
const isOther = ({ kind }: ts.ModifierLike) => kind !== ts.SyntaxKind.AsyncKeyword

function trackedFunction(node: ts.Node): ts.Node | undefined {
  if (ts.isArrowFunction(node)) {
    if (!isAsync(node.modifiers)) return undefined
    return factory.createArrowFunction(undefined, undefined, rest(), undefined, undefined, called(node))
  }
  const isNamed =
    ts.isFunctionDeclaration(node) || ts.isFunctionExpression(node) || ts.isMethodDeclaration(node)
  if (!isNamed || !isAsync(node.modifiers) || node.asteriskToken || !node.body) return undefined
  const body = factory.createBlock([factory.createReturnStatement(called(arrow(node, node.body)))])
  const modifiers = node.modifiers?.filter(isOther)
  if (ts.isFunctionDeclaration(node))
    return factory.updateFunctionDeclaration(
      node,
      ...([modifiers, undefined, node.name, undefined, rest(), undefined, body] as const),
    )
  if (ts.isFunctionExpression(node))
    return factory.updateFunctionExpression(
      node,
      ...([
        modifiers?.filter(ts.isModifier),
        undefined,
        node.name,
        undefined,
        rest(),
        undefined,
        body,
      ] as const),
    )
  return factory.updateMethodDeclaration(
    node,
    ...([modifiers, undefined, node.name, node.questionToken, undefined, rest(), undefined, body] as const),
  )
}

const rest = () => [
  factory.createParameterDeclaration(undefined, factory.createToken(ts.SyntaxKind.DotDotDotToken), argsName),
]

const called = (run: ts.Expression) =>
  factory.createCallExpression(factory.createIdentifier(runFunction), undefined, [
    run,
    factory.createIdentifier(argsName),
  ])

const arrow = ({ parameters }: ts.SignatureDeclaration, body: ts.Block): ts.Expression =>
  factory.createArrowFunction(
    [factory.createModifier(ts.SyntaxKind.AsyncKeyword)],
    ...([undefined, parameters.filter(isValue), undefined, undefined, body] as const),
  )

/** A `this` parameter in TypeScript exists only as a type. */
const isValue = ({ name }: ts.ParameterDeclaration) => !(ts.isIdentifier(name) && name.text === 'this')

/** Compiled code may also run in an earlier version of the service that has no `trackingFunction`. */
function declared(): ts.FunctionDeclaration {
  const [run, all] = [factory.createIdentifier('run'), factory.createIdentifier(argsName)]
  const track = factory.createPropertyAccessExpression(
    factory.createIdentifier('globalThis'),
    trackingFunction,
  )
  const promise = factory.createCallExpression(run, undefined, [factory.createSpreadElement(all)])
  const body = factory.createReturnStatement(
    factory.createConditionalExpression(
      ...([
        track,
        undefined,
        factory.createCallExpression(track, undefined, [promise]),
        undefined,
        promise,
      ] as const),
    ),
  )
  const parameters = [run, all].map((name) => factory.createParameterDeclaration(undefined, undefined, name))
  return factory.createFunctionDeclaration(
    ...([
      undefined,
      undefined,
      runFunction,
      undefined,
      parameters,
      undefined,
      factory.createBlock([body]),
    ] as const),
  )
}
