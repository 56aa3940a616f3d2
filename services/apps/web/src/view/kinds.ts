import type { Component } from '@opsplane/contracts'

/** A component of one type. */
export type ComponentOf<Type extends Component['type']> = Extract<Component, { type: Type }>
