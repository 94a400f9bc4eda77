import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { parseAst } from 'vite'
import { expect, test } from 'vitest'

/*
 * The specification's texts, word for word, each in the texts of its slice. {} stands for a filled-in value.
 */
type Place =
  | 'shell'
  | 'platform'
  | 'marketing'
  | 'accounts'
  | 'billing'
  | 'invoices'
  | 'mail'
  | 'reminders'
  | 'templates'
  | 'pay'
  | 'integrations'

const told: Record<Place, string[]> = {
  shell: [
    // Header, sidebar and footer (2).
    ...['Features', 'Pricing', 'Contact', 'Home', 'Sign In', 'My Profile', 'Dashboard', 'Email Settings', 'Sign Out', 'Logging out...'],
    ...['Create Invoice', 'Reminder Control', 'Email Templates', 'Support', 'Made with love for businesses'],
    ...['Clients', 'Getting Paid', 'Insights', 'Sequences'],
    ...['Business', 'Switch business', 'Add a business'],
    // The sidebar's actions and their messages (2, 8).
    ...['Trigger Reminder Emails', 'Subscribe to Zapier', 'Unsubscribe from Zapier'],
    ...['Subscribed to Zapier successfully.', 'Unsubscribed from Zapier successfully.'],
    ...['Failed to subscribe to Zapier.', 'Failed to unsubscribe from Zapier.'],
  ],
  platform: [
    // Two people change the same.
    ...['Keep mine', 'Take theirs', '{} changed the {} meanwhile. Both changes are saved.'],
    // What a sequence sends.
    ...['The next 30 days: {} to {}', 'No email leaves in the next 30 days.', 'If nobody pays meanwhile and every email is accepted.'],
  ],
  marketing: [
    // Landing page and features (2).
    ...['Get Started', 'Sign In', '100%', 'Success Rate', '24/7', 'Monitoring', '5min', 'Setup'],
    ...['Automated Reminders', 'Smart Analytics', 'Custom Templates', 'Payment Tracking', 'Secure & Compliant', 'Lightning Fast'],
    ...['Most Popular', '14-day free trial', 'Cancel anytime', 'Secure payments'],
  ],
  billing: [
    // The pricing cards' buttons and the dialog (2).
    ...['Current Plan', 'Get Started Free', 'Start {} Trial', 'Subscribe to {}', 'Billing Period', 'Monthly', 'Yearly', 'Save {}'],
    ...['Save {} compared to monthly billing', 'Payment Type', 'One-time Payment', 'Pay once for the selected period', 'Auto-Recurring'],
    ...['Automatically charge every billing period', 'per month', 'per year', 'Processing...', 'Loading...', 'Cancel Subscription'],
    ...[
      'Cancelling...',
      'Are you sure you want to cancel your subscription?',
      'Cancel',
      'Secure payment powered by a card payment provider',
    ],
    ...['Pay Once - {}/{}', 'Subscribe - {}/{}'],
    ...['Upgrade Plan', 'Change Plan', 'Subscription cancellation will be available soon'],
    // Failures and successes (8).
    ...['Failed to initiate payment', 'Failed to initiate subscription', 'Payment verification failed. Please contact support.'],
    ...['Subscription payment verification failed. Please contact support.', 'Payment successful! Your subscription is now active.'],
    'Subscription activated successfully! We will contact you for auto-renewal setup.',
    ...['Subscription cancelled successfully', 'Successfully switched to Free plan!', 'Failed to cancel subscription'],
    'Failed to activate free plan: {}',
  ],
  accounts: [
    // The tabs of the profile (2), and the fallback for a missing message (8).
    ...['Profile', 'Security', 'Subscription', 'Preferences', 'Unknown error'],
    // Signing in and up (2).
    ...['Sign in to Duely', 'Email', 'Password', 'Sign In', 'Signing in...', 'Or', 'Sign in with Google'],
    ...['Sign up to Duely', 'Full Name', 'Sign Up', 'Signing up...', 'Logging in...', 'Sign up with Google'],
    'Google sign-in failed. Please try again.',
    // The profile (2).
    ...['My Profile', 'Profile Not Found', 'Unable to load your profile information.', 'Retry', 'Member since {}'],
    ...['Total Invoices', 'Total Revenue', 'Mail Config', 'Active', 'NA', 'Current Plan', 'Display Name', 'Email Address', 'Save Changes'],
    ...['Change Password', 'Delete Account', 'Mail Settings', 'Reminders', 'New Invoice', 'View Pricing'],
    // Rules and messages (5, 8).
    ...['New passwords do not match', 'Password must be at least {} {} long', 'Please type "DELETE" to confirm'],
    ...['Failed to update profile: {}', 'Failed to change password: {}', 'Failed to delete account: {}'],
    ...['Profile updated successfully!', 'Password changed successfully!'],
    // The business, its team and brand.
    ...['Details', 'Brand', 'Team', 'Activity', 'Loading team...', 'Error loading team: {}', '{} of {} seats used'],
    'You work alone here. Invite a colleague, or let your accountant look on: a viewer is free.',
    ...['Send invitation', 'Copy invitation link', 'Admin: everything but plan and deletion', 'Member: invoices and sending by hand'],
    ...['Viewer: sees everything, changes nothing', 'Revoke these', 'Take them over'],
    'Remove {} from {}? They lose access at once. Made by them:',
    '{} becomes the owner once they accept; you become an admin.',
    ...['Choose a picture', 'This picture cannot be read. Please choose a PNG, JPEG, WebP or SVG file.'],
    // An invitation.
    ...['{} invites you to {} as {}.', 'Join', 'Not now', 'Sign out', 'This invitation is for {}. You are signed in as {}.'],
  ],
  invoices: [
    // The dashboard (2).
    ...['Dashboard', 'Manage your invoices and reminders', 'Search', 'All', 'Paid', 'Unpaid', 'Overdue', '{} ({})', 'Loading invoices...'],
    ...['Error loading invoices: {}', 'No invoices yet', 'Get started by creating your first invoice', 'No invoices found'],
    ...['No invoices match your search "{}"{}', ' in {} status', 'No unpaid invoices at the moment.'],
    ...['No invoices have been marked as paid yet.', 'No overdue invoices found.', 'Clear search', 'View all invoices'],
    // Creating and editing (2).
    ...['Create Invoice', 'Fill in the details to create a new invoice', 'Edit Invoice', 'Update invoice details'],
    ...['Loading invoice details...', 'Failed to load invoice: {}', 'Creating Invoice...', 'Update Invoice', 'Updating Invoice...'],
    // Notes, emails that come back, and imports.
    ...['Add a note', 'Only your team sees notes.', 'It came back', 'This looks like {}.', 'Missing means paid'],
    'This file has no email addresses. Add a list of your clients.',
    ...['{} new, {} updated, {} unchanged', 'Anyone who has this link can read the sheet.'],
  ],
  mail: [
    ...['Email Settings', 'Mail Configured', 'Remove Configuration', 'Are you sure you want to remove mail configuration?'],
    ...['Configure Custom SMTP', 'Connect Gmail (Recommended)', 'SSL (Port 465)', 'TLS (Port 587)', 'Save SMTP Configuration', 'Cancel'],
    ...['Error starting Gmail connection. Please try again.', 'Error configuring SMTP: {}', 'Error removing configuration: {}'],
    ...['Error configuring Gmail: {}', 'SMTP configured successfully!', 'Mail configuration removed successfully!'],
    'Gmail configured successfully!',
    ...['Connect Microsoft 365', 'Your administrator has to allow Duely once'],
  ],
  reminders: [
    // The sequence of all clients, and what it sends.
    ...['How clients are reminded', 'Change', 'Every day may be more than your clients like.'],
    ...['Configured', 'Not Configured', 'Never', 'Start Reminders', 'Stop Reminders', 'Send Now'],
    'Send reminder emails to all clients with overdue invoices right now',
    'Starting sends immediate emails to overdue recipients, then periodic reminders go out daily at {}.',
    "Only invoices with status 'unpaid' or 'overdue' with past due dates are included.",
    'Stopping pauses periodic reminders.',
    'Please configure your email settings first before starting reminders.',
    'Please configure your email settings first before sending reminders.',
    ...['Failed to start reminders: {}', 'Failed to stop reminders: {}', 'Failed to send reminders: {}'],
    ...['Reminders started successfully!', 'Reminders stopped successfully!', '{} reminder emails sent successfully!'],
  ],
  templates: [
    // Sequences and their editor.
    ...['Who hears what, and when', 'No sequence of your own yet', 'Until you make one, clients are reminded every day.'],
    ...['Add a step', 'Tone', 'Copy to me', 'Copy to the second contact', 'Then every … days', 'At most … emails'],
    ...['At least … days between two emails', 'Send me a test', 'Sequence saved.', '{} and {} use it. Use instead:'],
    ...[
      'Email Template Settings',
      'Use Custom Email Template',
      'Save Template',
      'Reset',
      'Default Template (for reference)',
      'Current Template',
    ],
    ...['Failed to save template preference: {}', 'Error updating template: {}', 'Email template content updated successfully!'],
  ],
  pay: [
    'How clients pay you, and what they say',
    ...['Getting Paid', 'What clients say', 'Ways to pay', 'Your pay page', 'Business name', 'Details', 'Logo', 'See your pay page'],
    ...['Clients are not told how to pay yet', 'Add a UPI ID or bank account, and reminders say how.'],
    ...['UPI ID', 'asha@okaxis', 'Name shown to the payer', 'Merchant code (only if your bank gave you one)'],
    ...['Bank account', 'Your own payment link', 'Saved. Reminders use it from now on.'],
    'Clients cannot reach this server, so reminders show how to pay without a pay page.',
    ...['{} says {} is paid', '{} will pay {} by {}', '{} asks about {}', '{} is not the right person for {}'],
    ...['Record payment', 'Not received', 'Keep the pause', 'Resume reminders', 'Reply by email', 'Settled'],
    ...['Change the contact', 'Keep the contact'],
    // The bank file.
    ...['Import a bank file', 'Nothing is recorded before you press Record.', 'Sure', 'Please look', 'Recorded before', 'No match'],
    ...['Record {}', '{} recorded{}. {} paid.', 'Undo', 'Please choose the column with the amounts.'],
  ],
  integrations: [
    'Authorization Request - Do you allow Zapier to access your account?',
    ...['Continue', 'No', 'Missing redirect URI information.'],
    ...['No redirect URL received from the server.', 'Error during authorization. Please try again.'],
    ...['Reminder emails triggered successfully.', 'Failed to trigger reminders. Please try again.'],
  ],
}

/** The specification's texts in the server, and where they are. */
const answered: [file: string, text: string][] = [
  ['server/reminders/', 'Active'],
  ['server/reminders/', 'Inactive'],
  ['server/reminders/', 'Please configure your email settings first before starting reminders.'],
  ['server/reminders/', 'Please configure your email settings first before sending reminders.'],
  ['server/accounts/', 'Google sign-in failed. Please try again.'],
  ['server/accounts/', 'Password must be at least {} {} long'],
  ['contract/plans.ts', 'Contact Sales'],
  // Teams and reach.
  ['contract/call.ts', 'Only {} of {} can do this. Ask {}.'],
  ['contract/call.ts', 'an admin or the owner'],
  ['contract/call.ts', 'the owner'],
  ['contract/call.ts', 'The plan of {} covers no team: you can look, {} can change things.'],
  ['contract/english.ts', 'Sent with Duely'],
  ['server/accounts/', 'a former member'],
  ['server/accounts/', '{} changed {} at {}.'],
  ['server/accounts/', 'You own {}. Hand it over or delete it first.'],
  ['server/accounts/', 'This invitation is for {}. You are signed in as {}.'],
  ['server/accounts/', 'This invitation is no longer good. Ask {} for a new one.'],
  ['server/integrations/', 'This update changes {} invoices. Look through it before it counts.'],
  ['server/mail/', "This is {}'s own domain: nothing to do."],
  ['server/mail/', 'A selector cannot be guessed. In a test mail, look for s= in DKIM-Signature and type it here.'],
  ['server/reminders/', '{} to {} came back. Reminders to this address are on hold.'],
]

/** Every text in a file, with {} for filled-in values. */
function textsOf(file: string): Set<string> {
  const found = new Set<string>()
  walk(parseAst(readFileSync(file, 'utf8'), { lang: file.endsWith('x') ? 'tsx' : 'ts' }, file), (node) => {
    if (node.type === 'Literal' && typeof node.value === 'string') found.add(node.value)
    if (node.type === 'TemplateLiteral') {
      const parts = node.quasis as { value: { cooked: string } }[]
      found.add(parts.map(({ value }) => value.cooked).join('{}'))
    }
  })
  return found
}

function walk(value: unknown, visit: (node: Record<string, unknown>) => void): void {
  if (Array.isArray(value)) for (const one of value) walk(one, visit)
  else if (typeof value === 'object' && value !== null) {
    visit(value as Record<string, unknown>)
    for (const inner of Object.values(value)) walk(inner, visit)
  }
}

const root = path.join(import.meta.dirname, '..')

function filesIn(folder: string, isWanted: (name: string) => boolean): string[] {
  return readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => isWanted(path.basename(name)))
    .map((name) => path.join(root, folder, name))
}

for (const [place, texts] of Object.entries(told)) {
  const files = filesIn(`web/${place}`, (name) => name.endsWith('texts.ts'))
  const there = new Set(files.flatMap((file) => [...textsOf(file)]))
  test.each(texts)(`${place} says "%s"`, (text) => {
    expect(there.has(text), `in ${files.map((file) => path.relative(root, file)).join(', ')}`).toBe(true)
  })
}

test.each(answered)('%s answers "%s"', (place, text) => {
  const folder = place.endsWith('/') ? place : path.dirname(place)
  const files = filesIn(folder, (name) => (place.endsWith('/') ? /^[^.]+\.ts$/.test(name) : name === path.basename(place)))
  expect(files.some((file) => textsOf(file).has(text))).toBe(true)
})
