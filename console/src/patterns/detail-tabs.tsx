interface DetailTabsProps<Tab extends string> {
  tabs: readonly (readonly [tab: Tab, label: string])[]
  chosen: Tab
  onChoose(tab: Tab): void
  label?: string
  className?: string
}

/** Tabs of a detail, of which one is shown. */
export function DetailTabs<Tab extends string>({
  tabs,
  chosen,
  onChoose,
  label,
  className = 'tabs detail-tabs',
}: DetailTabsProps<Tab>) {
  return (
    <div className={className} role="tablist" aria-label={label}>
      {tabs.map(([tab, label]) => (
        <button
          key={tab}
          type="button"
          role="tab"
          className="tab"
          aria-selected={tab === chosen}
          onClick={() => onChoose(tab)}
        >
          {label}
        </button>
      ))}
    </div>
  )
}
