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
  ])('matches GET %s', (path, target, params) => {
    expect(tree.find('GET', path)).toEqual({ target, params })
  })

  test('uses the parameter at the same position if a literal has no match', () => {
    expect(tree.find('POST', '/a/new/close')).toMatchObject({
      target: 'post /a/:id/close',
      params: { id: 'new' },
    })
    expect(tree.find('DELETE', '/a/new/2/y')).toMatchObject({ params: { id: 'new', part: '2' } })
    expect(tree.find('PUT', '/a/new/2/x')).toMatchObject({ params: { part: '2' } })
  })

  test('matches HEAD to the route of GET', () => {
    expect(tree.find('HEAD', '/a/7')).toMatchObject({ target: 'get /a/:id' })
  })

  test.each(['/b', '/a', '/a//close', '/A/7', '/a/7/close/more'])('does not match POST %s', (path) => {
    expect(tree.find('POST', path)).toBeUndefined()
  })

  test('rejects a wrong method with the allowed methods of every matching path', () => {
    const overlapping = treeOf('get /a/new', 'delete /a/:id')
    expect(() => overlapping.find('PUT', '/a/new')).toThrow('Allowed: DELETE, GET, HEAD.')
    expect(() => overlapping.find('PUT', '/a/7')).toThrow('Allowed: DELETE.')
    expect(overlapping.find('DELETE', '/a/new')).toMatchObject({ params: { id: 'new' } })
  })

  test('rejects a parameter with malformed percent-encoding', () => {
    expect(() => tree.find('GET', '/a/%zz')).toThrow(URIError)
  })

  test('returns the same target as lookup, which ignores parameters and wrong methods', () => {
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

test('the same address cannot be registered twice', () => {
  expect(() => treeOf('get /a/:id', 'get /a/:name')).toThrow('GET /a/:name')
})

describe('a wildcard route', () => {
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
  ])('matches the remaining path of %s if no other route does', (path, target, params) => {
    expect(tree.find('GET', path)).toEqual({ target, params })
    expect(tree.lookup('GET', path)).toBe(target)
  })

  test('lists its methods in the error for a wrong method', () => {
    expect(() => tree.find('DELETE', '/a/7/files/x')).toThrow('Allowed: GET, HEAD, PUT.')
    expect(tree.find('PUT', '/b')).toBeUndefined()
  })
})
