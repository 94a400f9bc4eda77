import type { SystemMail } from '#server/platform/system-mail.ts'

type Email = Omit<SystemMail, 'to'>

const linkLife = { minutes: 10 }
const noticeLife = { hours: 24 }
const signature = '\n\nDuely'
const notYou = (publicUrl: string) =>
  `If this was not you, set a new password at once: ${publicUrl}/signin (“Forgot password?”), sign out all other browsers on your profile, and end the programs that you do not know: ${publicUrl}/dashboard/connections.`

export function passwordResetEmail(publicUrl: string, token: string): Email {
  return {
    subject: 'Your new password for Duely',
    expiresIn: linkLife,
    text: `Somebody, hopefully you, asked for a new password for your Duely account. Choose it here within 10 minutes:

${publicUrl}/reset-password#token=${token}

The link works once. If you did not ask for it, do nothing: your password stays as it is.${signature}`,
  }
}

/** For somebody who signs in with Google: there is no password to be set. */
export function signInWithGoogleEmail(publicUrl: string): Email {
  return {
    subject: 'Signing in to Duely',
    expiresIn: linkLife,
    text: `Somebody, hopefully you, asked for a new password for your Duely account. You sign in with Google, so there is none: choose “Sign in with Google” at

${publicUrl}/signin

If you did not ask for it, do nothing.${signature}`,
  }
}

export function confirmationEmail(publicUrl: string, token: string): Email {
  return {
    subject: 'Please confirm your email for Duely',
    expiresIn: linkLife,
    text: `Please confirm that this is your mailbox, within 10 minutes:

${publicUrl}/confirm-email#token=${token}

If you have no account at Duely, do nothing: somebody may have mistyped their address.${signature}`,
  }
}

export function emailChangeEmail(publicUrl: string, token: string): Email {
  return {
    subject: 'Please confirm your new email for Duely',
    expiresIn: linkLife,
    text: `Somebody, hopefully you, wants to use this address for a Duely account. Confirm it within 10 minutes:

${publicUrl}/confirm-email#token=${token}

Until then nothing changes. If this was not you, do nothing.${signature}`,
  }
}

export function emailChangeRequestedEmail(publicUrl: string, newEmail: string): Email {
  return {
    subject: 'A new email for your Duely account was asked for',
    expiresIn: noticeLife,
    text: `Your Duely account is to use ${newEmail} from now on. It does once the link that was sent there is opened.

${notYou(publicUrl)}${signature}`,
  }
}

export function emailChangedEmail(publicUrl: string, newEmail: string): Email {
  return {
    subject: 'The email of your Duely account was changed',
    expiresIn: noticeLife,
    text: `Your Duely account now uses ${newEmail}; this address does not open it any more.

If this was not you, please ask whoever runs ${publicUrl} for help.${signature}`,
  }
}

export function passwordChangedEmail(publicUrl: string): Email {
  return {
    subject: 'The password of your Duely account was changed',
    expiresIn: noticeLife,
    text: `The password of your Duely account was changed, and other browsers were signed out.

${notYou(publicUrl)}${signature}`,
  }
}

export function googleLinkedEmail(publicUrl: string, googleEmail: string): Email {
  return {
    subject: 'Google sign-in was linked to your Duely account',
    expiresIn: noticeLife,
    text: `From now on you sign in with the Google account ${googleEmail}. Your password is not needed any more, and other browsers were signed out.

If this was not you, please ask whoever runs ${publicUrl} for help.${signature}`,
  }
}

export function googleUnlinkedEmail(publicUrl: string): Email {
  return {
    subject: 'Google sign-in was unlinked from your Duely account',
    expiresIn: noticeLife,
    text: `From now on you sign in with your email and the password that was just set. Other browsers were signed out.

${notYou(publicUrl)}${signature}`,
  }
}

export function twoFactorEmail(publicUrl: string, switched: 'on' | 'off'): Email {
  return {
    subject: `Two-factor sign-in was switched ${switched}`,
    expiresIn: noticeLife,
    text: `Two-factor sign-in of your Duely account was switched ${switched}.

${notYou(publicUrl)}${signature}`,
  }
}
