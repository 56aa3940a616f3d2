import type { Component, InputComponent } from '@opsplane/contracts'
import { namedData } from '../expression/evaluate.js'

/** Data that a component shows. */
export interface Need {
  source: string
  /** Templates. */
  params: Readonly<Record<string, unknown>>
  /** The component's id, by which expressions name the data beside the source's name. */
  id: string | undefined
  /** Templates of which none may be false: the component and what it stands in are shown. */
  visible: readonly string[]
}

/** What a page needs to be shown. */
export interface PageNeeds {
  needs: readonly Need[]
  inputs: readonly InputComponent[]
}

export type InputType = InputComponent['type']
const inputTypes: Readonly<Record<InputType, true>> = {
  ...{ text_input: true, text_area: true, number_input: true, checkbox: true },
  ...{ select: true, radio: true, date_input: true, datetime_input: true },
}
export const isInput = (component: Component): component is InputComponent =>
  Object.hasOwn(inputTypes, component.type)

/** Finds inputs and data of a page's components; data that only expressions name is needed without parameters. */
export function needsOf(components: readonly Component[]): PageNeeds {
  const needs: Need[] = []
  const inputs: InputComponent[] = []
  const visit = (component: Component, above: readonly string[]): void => {
    const visible = component.visible === undefined ? above : [...above, component.visible]
    const need = (source: string, params: Need['params']) =>
      needs.push({ source, params, id: component.id, visible })
    if (isInput(component)) inputs.push(component)
    if ('source' in component) need(component.source, component.params)
    if ('options' in component && !Array.isArray(component.options))
      need(component.options.source, component.options.params)
    for (const child of childrenOf(component)) visit(child, visible)
  }
  for (const component of components) visit(component, [])
  const named = new Set(needs.flatMap(({ source, id }) => (id === undefined ? [source] : [source, id])))
  for (const source of new Set(namedData(components))) {
    if (!named.has(source)) needs.push({ source, params: {}, id: undefined, visible: [] })
  }
  return { needs, inputs }
}

function childrenOf(component: Component): readonly Component[] {
  switch (component.type) {
    case 'container':
      return component.children
    case 'tabs':
      return component.tabs.flatMap(({ children }) => children)
    case 'form':
      return component.fields
    default:
      return []
  }
}
