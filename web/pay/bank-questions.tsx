import { NativeSelect } from '@mantine/core'
import { type ReactNode, useEffect, useId, useRef, useState } from 'react'
import { type BankField, type BankReading, bankFields } from '#contract/import/bank.ts'
import type { Answers, Question } from '#contract/import/meaning.ts'
import { formatMoney } from '#contract/money.ts'
import { showSpoken } from '#web/ui/dates.ts'
import styles from './bank.module.css'
import { bankFileTexts } from './bank-texts.ts'

const texts = bankFileTexts.questions

/** Asked at the same time at most: a file of an unknown bank may have six. */
export const mostAsked = 3

interface QuestionsProps {
  questions: Question[]
  /** The currency that amounts are shown in. */
  currency: string
  onAnswer: (answers: Answers) => void
  /** Opens the choice of all columns. */
  onColumns: () => void
}

/** What the file does not say, in its own words. */
export function Questions({ questions, currency, onAnswer, onColumns }: QuestionsProps): ReactNode {
  const section = useRef<HTMLElement>(null)
  const first = questions[0]?.id
  // An answered question leaves the page with the focus: the next one takes it.
  const [answered, setAnswered] = useState(false)
  // biome-ignore lint/correctness/useExhaustiveDependencies: each time that another question is the first.
  useEffect(() => {
    if (answered && document.activeElement === document.body) section.current?.querySelector('fieldset')?.focus({ preventScroll: true })
  }, [answered, first])
  const answer = (answers: Answers) => {
    setAnswered(true)
    onAnswer(answers)
  }
  if (questions.length === 0) return null
  const more = questions.length - mostAsked
  return (
    <section ref={section} className={styles.questions} aria-label={texts.title}>
      {questions.slice(0, mostAsked).map((question, at) => (
        <QuestionCard key={question.id} question={question} number={at + 1} currency={currency} onAnswer={answer} onColumns={onColumns} />
      ))}
      {more > 0 && <p className={styles.later}>{texts.more(more)}</p>}
    </section>
  )
}

interface QuestionCardProps extends Omit<QuestionsProps, 'questions'> {
  question: Question
  number: number
}

function QuestionCard({ question, number, currency, onAnswer, onColumns }: QuestionCardProps): ReactNode {
  const { title, why } = askedAs(question)
  const answer = (value: string) => onAnswer({ [question.id]: value })
  return (
    <fieldset className={styles.question} tabIndex={-1} data-wide={question.kind === 'words' || undefined}>
      <legend className={styles.questionTitle}>{texts.numbered(number, title)}</legend>
      {why !== '' && <p className={styles.why}>{why}</p>}
      {question.kind === 'words' ? (
        <Words question={question} onAnswer={onAnswer} />
      ) : (
        <Options name={question.id} options={optionsOf(question, currency)} onChoose={answer} />
      )}
      {question.kind === 'column' && question.field === 'amount' && (
        <button type="button" className={styles.link} onClick={onColumns}>
          {texts.twoColumns}
        </button>
      )}
    </fieldset>
  )
}

/** A question as a person reads it, and why it is asked. */
function askedAs(question: Question): { title: string; why: string } {
  switch (question.kind) {
    case 'column': {
      const field = bankFileTexts.fields[question.field as BankField] ?? question.field
      const isRival = question.id === 'column/amount' && question.columns.length <= 3 && question.columns.length > 1
      return {
        title: isRival
          ? texts.whichAmount(question.columns.map(({ heading }) => heading))
          : (texts.column[question.field] ?? texts.whichColumn(field)),
        why: '',
      }
    }
    case 'order':
      return {
        title: texts.order(question.example, showSpoken(question.dmy), showSpoken(question.mdy)),
        why: texts.orderRows(question.rows, question.heading),
      }
    case 'decimals':
      return { title: texts.decimals(question.example), why: texts.decimalsRows(question.rows, question.heading) }
    case 'words': {
      const known = question.words.filter(({ means }) => means !== null).length
      return {
        title: question.about === 'state' ? texts.state(question.heading) : texts.direction(question.heading),
        why: texts.known(known, question.words.length - known),
      }
    }
    case 'choice':
      if (question.about === 'currency')
        return { title: question.id === 'currency/file' ? texts.currency : texts.sign(question.heading), why: '' }
      return question.id === 'direction/unmarked'
        ? { title: texts.unmarked(question.rows), why: '' }
        : { title: texts.unsigned(question.rows), why: texts.unsignedWhy(question.heading) }
  }
}

interface Option {
  value: string
  label: string
  detail: string
}

function optionsOf(question: Exclude<Question, { kind: 'words' }>, currency: string): Option[] {
  switch (question.kind) {
    case 'column':
      return question.columns.map(({ key, heading, example }) => ({ value: key, label: heading, detail: example }))
    case 'order': {
      const nearby = (which: 'dmy' | 'mdy') => {
        const { before, after, inOrder } = question.nearby[which]
        return texts.nearby(question.number, before && showSpoken(before), after && showSpoken(after), inOrder)
      }
      return [
        { value: 'dmy', label: texts.dayFirst(showSpoken(question.dmy)), detail: nearby('dmy') },
        { value: 'mdy', label: texts.monthFirst(showSpoken(question.mdy)), detail: nearby('mdy') },
        { value: 'leave', label: texts.leaveRows(question.rows), detail: '' },
      ]
    }
    case 'decimals':
      return (['point', 'comma'] as const).map((value) => ({
        value,
        label: formatMoney(question[value], currency),
        detail: texts.decimalsAre[value] ?? '',
      }))
    case 'choice':
      return question.choices.map((value) => ({
        value,
        label: question.about === 'currency' ? value : (texts.wide[value] ?? value),
        detail: '',
      }))
  }
}

function Options({ name, options, onChoose }: { name: string; options: Option[]; onChoose: (value: string) => void }): ReactNode {
  return (
    <div className={styles.options}>
      {options.map(({ value, label, detail }) => (
        <label key={value} className={styles.option}>
          <input type="radio" name={name} value={value} checked={false} onChange={() => onChoose(value)} />
          <span>
            <strong>{label}</strong>
            {detail !== '' && <small>{detail}</small>}
          </span>
        </label>
      ))}
    </div>
  )
}

/** The words of a column: those that are not known are answered, the others are shown with their meaning. */
function Words({
  question,
  onAnswer,
}: {
  question: Extract<Question, { kind: 'words' }>
  onAnswer: (answers: Answers) => void
}): ReactNode {
  const first = useId()
  const asked = question.words.filter(({ means, answered }) => means === null || answered)
  const known = question.words.filter((word) => !asked.includes(word))
  return (
    <div className={styles.wordList}>
      {asked.map(({ id, written, rows, example, means }, at) => (
        <div key={id} className={styles.word}>
          <strong id={`${first}-${at}`}>{written || texts.noWord}</strong>
          <span className={styles.example}>{texts.rowsLike(rows, example)}</span>
          <div className={styles.segments} role="radiogroup" aria-labelledby={`${first}-${at}`}>
            {question.choices.map((choice) => (
              <label key={choice} className={styles.segment}>
                <input type="radio" name={`${first}-${at}`} checked={means === choice} onChange={() => onAnswer({ [id]: choice })} />
                <span>{texts.choices[choice] ?? choice}</span>
              </label>
            ))}
          </div>
        </div>
      ))}
      {known.map(({ id, written, rows, means }) => (
        <div key={id} className={styles.word} data-known>
          <strong>{written || texts.noWord}</strong>
          <span className={styles.example}>{texts.rowsLike(rows, '')}</span>
          <span className={styles.meaning}>{texts.means[means as keyof typeof texts.means]}</span>
        </div>
      ))}
    </div>
  )
}

interface AnsweredProps {
  answers: Answers
  onForget: (id: string) => void
}

/** The answers that the reading rests on; each can be given again. */
export function Answered({ answers, onForget }: AnsweredProps): ReactNode {
  const given = Object.entries(answers)
  if (given.length === 0) return null
  return (
    <div className={styles.answered}>
      <h2 className={styles.answeredTitle}>{texts.answered}</h2>
      <ul>
        {given.map(([id, value]) => (
          <li key={id}>
            <span>{texts.given(aboutOf(id), meaningOf(id, value))}</span>
            <button type="button" className={styles.link} aria-label={`${texts.change} ${aboutOf(id)}`} onClick={() => onForget(id)}>
              {texts.change}
            </button>
          </li>
        ))}
      </ul>
    </div>
  )
}

/** `order/date`, `state/status/offen`: the parts of an id are its subject, its column and its word. */
function aboutOf(id: string): string {
  const [subject = '', column = '', ...word] = id.split('/')
  if (subject === 'column') return bankFileTexts.fields[column as BankField] ?? column
  const about = texts.about[subject] ?? subject
  if (word.length > 0 && word[0] !== 'both') return `${about}, “${word.join('/') || texts.noWord}”`
  return ['rows', 'unmarked', 'file'].includes(column) ? about : `${about}, ${column}`
}

function meaningOf(id: string, value: string): string {
  const [subject = ''] = id.split('/')
  if (subject === 'order') return texts.orders[value] ?? value
  if (subject === 'decimals') return texts.decimalsAre[value] ?? value
  if (subject === 'column') return value || bankFileTexts.notInFile
  return texts.means[value as keyof typeof texts.means] ?? value
}

interface ColumnsProps {
  reading: BankReading
  answers: Answers
  onAnswer: (answers: Answers) => void
}

/** Which column is which; each can be chosen. */
export function Columns({ reading, answers, onAnswer }: ColumnsProps): ReactNode {
  const options = reading.choosable.map(({ key, heading, example }) => ({
    value: key,
    label: bankFileTexts.option(heading, example).slice(0, 60),
  }))
  const keyOf = (column: number | undefined) => reading.choosable.find((one) => one.column === column)?.key ?? ''
  return (
    <>
      <p className={styles.why}>{bankFileTexts.columnsOf}</p>
      <div className={styles.columns}>
        {bankFields.map((field) => (
          <NativeSelect
            key={field}
            label={bankFileTexts.fields[field]}
            data={[{ value: '', label: bankFileTexts.notInFile }, ...options]}
            value={answers[`column/${field}`] ?? keyOf(reading.fields[field])}
            onChange={(event) => onAnswer({ [`column/${field}`]: event.currentTarget.value })}
          />
        ))}
      </div>
    </>
  )
}
