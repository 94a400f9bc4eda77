import type { SystemMail } from '#server/platform/system-mail.ts'

type Letter = Omit<SystemMail, 'to'>

const linkLife = { minutes: 10 }
const noticeLife = { hours: 24 }
const signature = '\n\nDuely'
const notYou = (publicUrl: string) =>
  `If this was not you, set a new password at once: ${publicUrl}/signin (“Forgot password?”), sign out all other browsers on your profile, and end the programs that you do not know: ${publicUrl}/dashboard/connections.`

export function resetLetter(publicUrl: string, token: string): Letter {
  return {
    subject: 'Your new password for Duely',
    goodFor: linkLife,
    text: `Somebody, hopefully you, asked for a new password for your Duely account. Choose it here within 10 minutes:

${publicUrl}/reset-password#token=${token}

The link works once. If you did not ask for it, do nothing: your password stays as it is.${signature}`,
  }
}

/** For somebody who signs in with Google: there is no password to be set. */
export function googleInsteadLetter(publicUrl: string): Letter {
  return {
    subject: 'Signing in to Duely',
    goodFor: linkLife,
    text: `Somebody, hopefully you, asked for a new password for your Duely account. You sign in with Google, so there is none: choose “Sign in with Google” at

${publicUrl}/signin

If you did not ask for it, do nothing.${signature}`,
  }
}

export function confirmLetter(publicUrl: string, token: string): Letter {
  return {
    subject: 'Please confirm your email for Duely',
    goodFor: linkLife,
    text: `Please confirm that this is your mailbox, within 10 minutes:

${publicUrl}/confirm-email#token=${token}

If you have no account at Duely, do nothing: somebody may have mistyped their address.${signature}`,
  }
}

export function changeLetter(publicUrl: string, token: string): Letter {
  return {
    subject: 'Please confirm your new email for Duely',
    goodFor: linkLife,
    text: `Somebody, hopefully you, wants to use this address for a Duely account. Confirm it within 10 minutes:

${publicUrl}/confirm-email#token=${token}

Until then nothing changes. If this was not you, do nothing.${signature}`,
  }
}

export function changeAskedNotice(publicUrl: string, newEmail: string): Letter {
  return {
    subject: 'A new email for your Duely account was asked for',
    goodFor: noticeLife,
    text: `Your Duely account is to use ${newEmail} from now on. It does once the link that was sent there is opened.

${notYou(publicUrl)}${signature}`,
  }
}

export function emailChangedNotice(publicUrl: string, newEmail: string): Letter {
  return {
    subject: 'The email of your Duely account was changed',
    goodFor: noticeLife,
    text: `Your Duely account now uses ${newEmail}; this address does not open it any more.

If this was not you, please ask whoever runs ${publicUrl} for help.${signature}`,
  }
}

export function passwordChangedNotice(publicUrl: string): Letter {
  return {
    subject: 'The password of your Duely account was changed',
    goodFor: noticeLife,
    text: `The password of your Duely account was changed, and other browsers were signed out.

${notYou(publicUrl)}${signature}`,
  }
}

export function googleLinkedNotice(publicUrl: string, googleEmail: string): Letter {
  return {
    subject: 'Google sign-in was linked to your Duely account',
    goodFor: noticeLife,
    text: `From now on you sign in with the Google account ${googleEmail}. Your password is not needed any more, and other browsers were signed out.

If this was not you, please ask whoever runs ${publicUrl} for help.${signature}`,
  }
}

export function googleUnlinkedNotice(publicUrl: string): Letter {
  return {
    subject: 'Google sign-in was unlinked from your Duely account',
    goodFor: noticeLife,
    text: `From now on you sign in with your email and the password that was just set. Other browsers were signed out.

${notYou(publicUrl)}${signature}`,
  }
}

export function twoFactorNotice(publicUrl: string, switched: 'on' | 'off'): Letter {
  return {
    subject: `Two-factor sign-in was switched ${switched}`,
    goodFor: noticeLife,
    text: `Two-factor sign-in of your Duely account was switched ${switched}.

${notYou(publicUrl)}${signature}`,
  }
}
