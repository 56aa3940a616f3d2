/**
 * How one part notifies another without knowing it: parts that wake each other are made one after the other, and connected when
 * all are there. What is emitted before there is a listener is lost.
 */
export interface Notifier<Value extends unknown[]> {
  emit(...value: Value): void
  listen(listener: (...value: Value) => void): void
}

export function createNotifier<Value extends unknown[]>(): Notifier<Value> {
  let notify: (...value: Value) => void = () => {}
  return {
    emit: (...value) => notify(...value),
    listen(listener) {
      notify = listener
    },
  }
}
