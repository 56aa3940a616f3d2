import { describe, expect, test } from '@jest/globals'
import { RouteTree } from './routing.js'

function treeOf(...addresses: string[]): RouteTree<string> {
  const tree = new RouteTree<string>()
  for (const address of addresses) {
    const [method = '', path = ''] = address.split(' ')
    tree.add(method, path, address)
  }
  return tree
}

describe('find', () => {
  const tree = treeOf(
    'get /a/:id',
    'get /a/new',
    'post /a/:id/close',
    'put /a/new/:part/x',
    'delete /a/:id/:part/y',
    'get /',
  )

  test.each([
    ['/a/7', 'get /a/:id', { id: '7' }],
    ['/a/7/', 'get /a/:id', { id: '7' }],
    ['/a/new', 'get /a/new', {}],
    ['/a/x%2Fy', 'get /a/:id', { id: 'x/y' }],
    ['/', 'get /', {}],
  ])('GET %s', (path, target, params) => {
    expect(tree.find('GET', path)).toEqual({ target, params })
  })

  test('a literal without a match falls back to the parameter at its place', () => {
    expect(tree.find('POST', '/a/new/close')).toMatchObject({
      target: 'post /a/:id/close',
      params: { id: 'new' },
    })
    expect(tree.find('DELETE', '/a/new/2/y')).toMatchObject({ params: { id: 'new', part: '2' } })
    expect(tree.find('PUT', '/a/new/2/x')).toMatchObject({ params: { part: '2' } })
  })

  test('HEAD finds what GET finds', () => {
    expect(tree.find('HEAD', '/a/7')).toMatchObject({ target: 'get /a/:id' })
  })

  test.each(['/b', '/a', '/a//close', '/A/7', '/a/7/close/more'])('%s is unknown', (path) => {
    expect(tree.find('POST', path)).toBeUndefined()
  })

  test('a wrong method names the right ones of every path that matches', () => {
    const overlapping = treeOf('get /a/new', 'delete /a/:id')
    expect(() => overlapping.find('PUT', '/a/new')).toThrow('Allowed: DELETE, GET, HEAD.')
    expect(() => overlapping.find('PUT', '/a/7')).toThrow('Allowed: DELETE.')
    expect(overlapping.find('DELETE', '/a/new')).toMatchObject({ params: { id: 'new' } })
  })

  test('a parameter that is not correctly percent-encoded', () => {
    expect(() => tree.find('GET', '/a/%zz')).toThrow(URIError)
  })

  test('lookup finds the same, without the parameters, and is never wrong about a method', () => {
    const segments = ['a', 'new', '7', 'close', '', 'x', 'y', '%zz']
    const paths = ['', ...segments].flatMap((first) =>
      segments.flatMap((second) =>
        segments.flatMap((third) => [`/${first}`, `/${first}/${second}`, `/${first}/${second}/${third}/y`]),
      ),
    )
    for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'BREW'])
      for (const path of paths)
        expect([method, path, tree.lookup(method, path)]).toEqual([method, path, found(method, path)])
  })

  /** The result of `find`, or `undefined` if it throws. */
  function found(method: string, path: string): string | undefined {
    try {
      return tree.find(method, path.replaceAll('%', ''))?.target
    } catch {
      return undefined
    }
  }
})

test('one address cannot be taken twice', () => {
  expect(() => treeOf('get /a/:id', 'get /a/:name')).toThrow('GET /a/:name')
})

describe('a rest', () => {
  const tree = treeOf(
    'get /a/:id/files/*path',
    'get /a/:id/files/list',
    'put /a/:id/files/*path',
    'get /a/*path',
  )

  test.each([
    ['/a/7/files', 'get /a/:id/files/*path', { id: '7' }],
    ['/a/7/files/x', 'get /a/:id/files/*path', { id: '7', path: 'x' }],
    ['/a/7/files/x//y%2Fz/', 'get /a/:id/files/*path', { id: '7', path: 'x//y/z' }],
    ['/a/7/files/list', 'get /a/:id/files/list', { id: '7' }],
    ['/a/7/other', 'get /a/*path', { path: '7/other' }],
  ])('takes what is left of %s, if nothing else does', (path, target, params) => {
    expect(tree.find('GET', path)).toEqual({ target, params })
    expect(tree.lookup('GET', path)).toBe(target)
  })

  test('names the methods it has', () => {
    expect(() => tree.find('DELETE', '/a/7/files/x')).toThrow('Allowed: GET, HEAD, PUT.')
    expect(tree.find('PUT', '/b')).toBeUndefined()
  })
})
