import type { Component, InputComponent } from '@opsplane/contracts'
import { namedData } from '../expression/evaluate.js'

export type ChoiceInput = Extract<InputComponent, { type: 'select' | 'radio' }>
export type FormComponent = Extract<Component, { type: 'form' }>

/** Data that a component shows. */
export interface Need {
  source: string
  /** Templates. */
  params: Readonly<Record<string, unknown>>
  /** The component's id. Expressions can refer to the data by this id or by the source's name. */
  id: string | undefined
  /** Templates of the component and its ancestors; the component is shown only if none of them is false. */
  visible: readonly string[]
  /** The input that the data provides options for: the options to choose from, or only the chosen one. */
  choice?: { input: ChoiceInput; has: 'options' | 'chosen' }
}

/** The data, inputs and forms of a page. */
export interface PageNeeds {
  needs: readonly Need[]
  inputs: readonly InputComponent[]
  forms: readonly FormComponent[]
}

export type InputType = InputComponent['type']
const inputTypes: Readonly<Record<InputType, true>> = {
  ...{ text_input: true, text_area: true, number_input: true, checkbox: true },
  ...{ select: true, radio: true, date_input: true, datetime_input: true },
}
export const isInput = (component: Component): component is InputComponent =>
  Object.hasOwn(inputTypes, component.type)

/** Finds the inputs and data of a page's components. Data named only by expressions is loaded without parameters. */
export function findNeeds(components: readonly Component[]): PageNeeds {
  const needs: Need[] = []
  const inputs: InputComponent[] = []
  const forms: FormComponent[] = []
  const visit = (component: Component, above: readonly string[]): void => {
    const visible = component.visible === undefined ? above : [...above, component.visible]
    const common = { id: component.id, visible }
    if (isInput(component)) inputs.push(component)
    if (component.type === 'form') forms.push(component)
    if ('source' in component) needs.push({ source: component.source, params: component.params, ...common })
    if ('options' in component) needs.push(...optionNeeds(component, visible))
    for (const child of childrenOf(component)) visit(child, visible)
  }
  for (const component of components) visit(component, [])
  const neededNames = new Set(needs.flatMap(({ source, id }) => (id === undefined ? [source] : [source, id])))
  for (const source of new Set(namedData(components))) {
    if (!neededNames.has(source)) needs.push({ source, params: {}, id: undefined, visible: [] })
  }
  return { needs, inputs, forms }
}

function optionNeeds(input: ChoiceInput, visible: readonly string[]): Need[] {
  const { options, id } = input
  if (Array.isArray(options)) return []
  const { source, params, find } = options
  const all: Need = { source, params, id, visible, choice: { input, has: 'options' } }
  if (find === undefined) return [all]
  return [all, { source, params, id: undefined, visible, choice: { input, has: 'chosen' } }]
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
