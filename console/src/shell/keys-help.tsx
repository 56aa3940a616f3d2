import { Kbd, Modal } from '@mantine/core'
import { usePlace } from '../place/context.js'
import { texts } from '../texts/en.js'
import { type Area, findAreas } from './areas.js'

const words = texts.keys
type Group = readonly [title: string, keys: readonly (readonly [keys: string, does: string])[]]

const groupsOf = (areas: readonly Area[]): Group[] => [
  [
    words.anywhere,
    [
      ['Ctrl K', words.palette],
      ['?', words.help],
      ...areas.map(({ name, key }) => [`g ${key}`, words.goTo(texts.areas[name])] as const),
    ],
  ],
  [
    words.lists,
    [
      ['j', words.next],
      ['k', words.previous],
      ['Enter', words.open],
      ['Esc', words.back],
      ['/', words.filter],
      ['r', words.retry],
    ],
  ],
]

export function KeysHelp({ isOpen, onClose }: { isOpen: boolean; onClose(): void }) {
  const { me } = usePlace()
  return (
    // The dialog is short-lived, so the page behind it may scroll; the style element that would prevent that is not allowed.
    <Modal
      opened={isOpen}
      onClose={onClose}
      title={words.title}
      size={520}
      lockScroll={false}
      closeButtonProps={{ size: 28, 'aria-label': texts.common.close }}
      transitionProps={{ duration: 80 }}
    >
      <div className="keys">
        {groupsOf(findAreas(me)).map(([title, keys]) => (
          <section key={title}>
            <h3 className="small muted">{title}</h3>
            <dl>
              {keys.map(([pressed, does]) => (
                <div key={pressed} className="keys-row">
                  <dt>{does}</dt>
                  <dd>
                    {pressed.split(' ').map((key) => (
                      <Kbd key={key} size="xs">
                        {key}
                      </Kbd>
                    ))}
                  </dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
    </Modal>
  )
}
