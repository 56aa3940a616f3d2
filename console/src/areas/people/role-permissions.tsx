import { usePlace } from '../../place/context.js'
import { texts } from '../../texts/en.js'
import { Tick } from './form.js'
import { groupPermissions } from './role-change.js'

const words = texts.people.roles

interface RolePermissionsProps<Permission extends string> {
  all: readonly Permission[]
  allowed: readonly Permission[]
  /** If absent, the permissions are read-only. */
  onChange?(allowed: Permission[]): void
}

/** Permissions by resource. A person can only grant permissions they have. */
export function RolePermissions<Permission extends string>({
  all,
  allowed,
  onChange,
}: RolePermissionsProps<Permission>) {
  const { may } = usePlace()
  const turn = (permission: Permission, isOn: boolean) =>
    onChange?.(all.filter((each) => (each === permission ? isOn : allowed.includes(each))))
  return (
    <div className="families">
      {groupPermissions(all).map(([family, permissions]) => (
        <fieldset key={family} className="family">
          <legend>{family}</legend>
          {permissions.map((permission) => (
            <Tick
              key={permission}
              label={permission.split(':')[1]}
              isOn={allowed.includes(permission)}
              isDisabled={onChange === undefined || !may(permission)}
              title={onChange !== undefined && !may(permission) ? words.beyond : undefined}
              onTurn={(isOn) => turn(permission, isOn)}
            />
          ))}
        </fieldset>
      ))}
    </div>
  )
}
