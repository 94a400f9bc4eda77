import { type CSSVariablesResolver, createTheme, type MantineColorsTuple } from '@mantine/core'
import controls from './controls.module.css'
import { texts } from './texts.ts'

// Shade 5 fills in the dark theme, 6 in the light one. White text on #3f74f5 has a contrast of 4.2; buttons use the nearest blue with 4.5.
const brand: MantineColorsTuple = [
  '#e9f0ff',
  '#cfdcff',
  '#a9c1ff',
  '#86a9ff',
  '#6b97ff',
  '#386bed',
  '#2f62e6',
  '#2558d9',
  '#1e4ab8',
  '#173b95',
]
const coral: MantineColorsTuple = [
  '#ffeceb',
  '#ffd6d2',
  '#ffb3ac',
  '#ff8c82',
  '#ff7063',
  '#c8372b',
  '#c8372b',
  '#b02e23',
  '#92251c',
  '#741d16',
]
const dark: MantineColorsTuple = [
  '#e9edf4',
  '#c3ccd9',
  '#93a0b5',
  '#8492a9',
  '#364357',
  '#19202c',
  '#121720',
  '#0b0e14',
  '#080a0f',
  '#05070a',
]

const field = {
  input: controls.input ?? '',
  label: controls.label ?? '',
  description: controls.description ?? '',
  error: controls.error ?? '',
}

/** Our palette and measures for the library's components. The colours are defined in global.css. */
export const mantineTheme = createTheme({
  fontFamily: '"Inter Variable", "Inter Stand-in", system-ui, sans-serif',
  fontSizes: { xs: '13px', sm: '14px', md: '15px', lg: '17px', xl: '20px' },
  headings: { fontFamily: 'var(--font-heading)', fontWeight: '700' },
  colors: { brand, coral, dark },
  primaryColor: 'brand',
  primaryShade: { light: 6, dark: 5 },
  defaultRadius: '10px',
  cursorType: 'pointer',
  focusRing: 'auto',
  respectReducedMotion: true,
  spacing: { xs: '8px', sm: '12px', md: '16px', lg: '24px', xl: '32px' },
  // Plain objects: the components' `extend` would pull all of them into every page.
  components: {
    Button: { defaultProps: { size: 'md' }, classNames: { root: controls.button ?? '' } },
    ActionIcon: {
      defaultProps: { variant: 'subtle', color: 'gray', size: 44 },
      classNames: { root: controls.icon ?? '' },
    },
    Input: { defaultProps: { size: 'md' } },
    TextInput: { defaultProps: { size: 'md', withAsterisk: false }, classNames: field },
    PasswordInput: { defaultProps: { size: 'md', withAsterisk: false }, classNames: field },
    NumberInput: { defaultProps: { size: 'md', withAsterisk: false }, classNames: field },
    NativeSelect: { defaultProps: { size: 'md', withAsterisk: false }, classNames: field },
    Textarea: { defaultProps: { size: 'md', withAsterisk: false }, classNames: field },
    Autocomplete: { defaultProps: { size: 'md', withAsterisk: false }, classNames: { ...field, option: controls.option ?? '' } },
    Select: { defaultProps: { size: 'md', withAsterisk: false }, classNames: { ...field, option: controls.option ?? '' } },
    ComboboxChevron: { classNames: { chevron: controls.chevron ?? '' } },
    Checkbox: { classNames: { input: controls.tick ?? '' } },
    Radio: { classNames: { radio: controls.tick ?? '' } },
    Switch: { defaultProps: { withThumbIndicator: false } },
    Skeleton: { classNames: { root: controls.skeleton ?? '' } },
    Loader: { defaultProps: { type: 'oval' } },
    Menu: {
      defaultProps: { shadow: 'none', transitionProps: { duration: 120 }, withInitialFocusPlaceholder: false },
      classNames: { dropdown: controls.dropdown ?? '', item: controls.menuItem ?? '' },
    },
    Notification: {
      defaultProps: { withBorder: true, closeButtonProps: { size: 44, iconSize: 18 } },
      classNames: { root: controls.toast ?? '', icon: controls.toastIcon ?? '', description: controls.toastText ?? '' },
    },
    Modal: {
      defaultProps: {
        // A <header> inside a dialog must not be a banner landmark.
        attributes: { header: { role: 'presentation' } },
        centered: true,
        radius: 14,
        shadow: 'none',
        transitionProps: { duration: 160 },
        onEnterTransitionEnd: showFocused,
        overlayProps: { backgroundOpacity: 0.6 },
        closeButtonProps: { size: 44, iconSize: 20, 'aria-label': texts.close },
      },
      classNames: { title: controls.modalTitle ?? '', content: controls.modal ?? '' },
    },
  },
})

/**
 * The focused element of a dialog may be below the fold of a small window. Where it is in view nothing may scroll: `scrollIntoView` takes the
 * sticky buttons of a long dialog for being at their place in the flow, at its end.
 */
function showFocused(): void {
  const focused = document.activeElement
  const frame = focused?.closest('[role=dialog]')
  if (focused && frame && focused.getBoundingClientRect().bottom > frame.getBoundingClientRect().bottom)
    focused.scrollIntoView({ block: 'nearest' })
}

/** Mantine's tokens from the palette: its dimmed and placeholder colours fail WCAG AA by default. */
export const mantineVariables: CSSVariablesResolver = () => {
  const tokens = {
    '--mantine-color-body': 'var(--ground)',
    '--mantine-color-text': 'var(--text)',
    '--mantine-color-dimmed': 'var(--dim)',
    '--mantine-color-placeholder': 'var(--dim)',
    '--mantine-color-anchor': 'var(--brand)',
    '--mantine-color-error': 'var(--overdue-text)',
    '--mantine-color-default': 'var(--surface)',
    '--mantine-color-default-hover': 'var(--raised)',
    '--mantine-color-default-color': 'var(--text)',
    '--mantine-color-default-border': 'var(--line-strong)',
    // Under the pointer, subtle buttons in the palette's blue and red would fail it too.
    '--mantine-color-brand-light-hover': 'var(--raised)',
    '--mantine-color-coral-light-hover': 'var(--raised)',
    '--mantine-color-disabled': 'color-mix(in srgb, var(--text) 9%, var(--surface))',
    '--mantine-color-disabled-color': 'var(--dim)',
    '--mantine-color-disabled-border': 'var(--line-strong)',
  }
  return { variables: { '--mantine-line-height': '1.5' }, light: tokens, dark: tokens }
}
