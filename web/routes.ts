import { index, layout, type RouteConfig, route } from '@react-router/dev/routes'

export default [
  layout('shell/public-layout.tsx', [
    layout('shell/screen-frame.tsx', { id: 'public-screen' }, [
      index('marketing/landing-screen.tsx'),
      route('features', 'marketing/features-screen.tsx'),
      route('pricing', 'marketing/pricing-screen.tsx', [layout('shell/library-frame.tsx', [index('billing/plan-choice.tsx')])]),
      route('contact', 'marketing/contact-screen.tsx'),
      route('privacy', 'marketing/privacy-screen.tsx'),
      route('*', 'shell/not-found-screen.tsx'),
    ]),
  ]),
  layout('shell/entry-layout.tsx', [
    layout('shell/screen-frame.tsx', { id: 'entry-screen' }, [
      route('signin', 'accounts/entry/sign-in-screen.tsx'),
      route('signup', 'accounts/entry/sign-up-screen.tsx'),
      route('forgot-password', 'accounts/entry/forgot-password-screen.tsx'),
      route('reset-password', 'accounts/entry/reset-password-screen.tsx'),
      route('confirm-email', 'accounts/entry/confirm-email-screen.tsx'),
      route('join', 'accounts/entry/join-screen.tsx'),
      route('evening', 'accounts/entry/evening-screen.tsx'),
      route('summary/unsubscribe', 'accounts/entry/end-summaries-screen.tsx'),
    ]),
  ]),
  route('dashboard', 'shell/dashboard-layout.tsx', [
    layout('integrations/trigger-frame.tsx', [
      layout('billing/plan-frame.tsx', [
        layout('shell/screen-frame.tsx', { id: 'dashboard-screen' }, [
          index('invoices/dashboard/dashboard-screen.tsx'),
          route('new-invoice', 'invoices/form/new-invoice-screen.tsx'),
          route('edit-invoice/:id', 'invoices/form/edit-invoice-screen.tsx'),
          route('clients', 'invoices/clients/clients-screen.tsx'),
          route('clients/:id', 'invoices/clients/client-screen.tsx'),
          route('mail-settings', 'mail/mail-settings-screen.tsx'),
          route('reminder-control', 'reminders/reminder-control-screen.tsx'),
          route('sequences', 'templates/sequences/sequences-screen.tsx'),
          route('sequences/:id', 'templates/sequences/sequence-screen.tsx'),
          route('email-templates', 'templates/email-templates-screen.tsx'),
          route('getting-paid', 'pay/getting-paid-screen.tsx'),
          route('getting-paid/bank-file', 'pay/bank-file-screen.tsx'),
          route('insights', 'insight/insights-screen.tsx'),
          route('connections', 'integrations/connections-screen.tsx'),
          route('connections/webhooks/:id', 'integrations/webhook-screen.tsx'),
          route('profile', 'accounts/profile/profile-screen.tsx', [index('billing/subscription-tab.tsx')]),
          route('access', 'accounts/profile/access-screen.tsx'),
          route('business', 'accounts/profile/business-screen.tsx'),
          route('oauth-consent', 'integrations/oauth-consent-screen.tsx'),
        ]),
      ]),
    ]),
  ]),
] satisfies RouteConfig
