import {
  IconAdjustmentsHorizontal,
  IconBellRinging,
  IconFilePlus,
  IconLayoutDashboard,
  IconMailCog,
  IconPlugConnected,
  IconUserCircle,
} from '@tabler/icons-react'
import { texts } from './texts.ts'

/** The public pages. */
export const sitePages = [
  { to: '/', text: texts.nav.home },
  { to: '/features', text: texts.nav.features },
  { to: '/pricing', text: texts.nav.pricing },
  { to: '/contact', text: texts.nav.contact },
]

/** The dashboard's screens; `also` is a further address under which the link is the active one. */
export const dashboardPages = [
  { to: '/dashboard', text: texts.sidebar.dashboard, icon: IconLayoutDashboard, also: null },
  { to: '/dashboard/new-invoice', text: texts.sidebar.createInvoice, icon: IconFilePlus, also: '/dashboard/edit-invoice/:id' },
  { to: '/dashboard/mail-settings', text: texts.sidebar.emailSettings, icon: IconMailCog, also: null },
  { to: '/dashboard/reminder-control', text: texts.sidebar.reminderControl, icon: IconBellRinging, also: null },
  { to: '/dashboard/email-templates', text: texts.sidebar.emailTemplates, icon: IconAdjustmentsHorizontal, also: null },
  { to: '/dashboard/connections', text: texts.sidebar.connections, icon: IconPlugConnected, also: '/dashboard/connections/webhooks/:id' },
  { to: '/dashboard/profile', text: texts.sidebar.profile, icon: IconUserCircle, also: null },
]
