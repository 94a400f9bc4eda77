import { NativeSelect, NumberInput } from '@mantine/core'
import { type FormEvent, type ReactNode, useEffect, useId, useRef, useState } from 'react'
import { type Answers, type AskedColumn, isAbout, type Question } from '#contract/import/meaning.ts'
import { formatMoney } from '#contract/money.ts'
import { showSpoken } from './dates.ts'
import styles from './file-questions.module.css'
import { fileTexts } from './file-texts.ts'

const texts = fileTexts.questions

/** Asked at the same time at most: an unknown file may have six. */
export const mostAsked = 3

/** What the files of a subject are asked about, in its words. */
export interface QuestionTexts {
  /** The names of the fields that a column can be. */
  fields: Record<string, string>
  /** The question about a column, by its field. */
  column: Record<string, string>
  /** A question about words, or with choices, and why it is asked. */
  about(question: Extract<Question, { kind: 'words' | 'choice' | 'number' }>): { title: string; why?: string }
  /** What a person can say about a word, and about all rows that wait: `due/amount` where a choice has a meaning of its own in a question. */
  choices: Record<string, string>
  wide: Record<string, string>
  /** What a choice of a kind is called; null where it has its name by the above. */
  choice?(about: string, value: string): string | null
  /** What a word means, where that is known or was answered. */
  means: Record<string, string>
  /** What an answer is about, by the first part of its id. */
  subjects: Record<string, string>
}

interface QuestionsProps {
  questions: Question[]
  words: QuestionTexts
  /** The currency that amounts are shown in. */
  currency: string
  onAnswer: (answers: Answers) => void
  /** What the question about a field is answered with instead: opens the choice of all columns. */
  instead?: { field: string; text: string; act: () => void }
}

/** What the file does not say, in its own words. */
export function Questions(props: QuestionsProps): ReactNode {
  const { questions, onAnswer } = props
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
        <QuestionCard {...props} key={question.id} question={question} number={at + 1} onAnswer={answer} />
      ))}
      {more > 0 && <p className={styles.later}>{texts.more(more)}</p>}
    </section>
  )
}

interface QuestionCardProps extends Omit<QuestionsProps, 'questions'> {
  question: Question
  number: number
}

function QuestionCard({ question, number, words, currency, onAnswer, instead }: QuestionCardProps): ReactNode {
  const { title, why = '' } = askedAs(question, words)
  const answer = (value: string) => onAnswer({ [question.id]: value })
  return (
    <fieldset className={styles.question} tabIndex={-1} data-wide={question.kind === 'words' || undefined}>
      <legend className={styles.questionTitle}>{texts.numbered(number, title)}</legend>
      {why !== '' && <p className={styles.why}>{why}</p>}
      {question.kind === 'words' ? (
        <Words question={question} words={words} onAnswer={onAnswer} />
      ) : question.kind === 'number' ? (
        <NumberAnswer title={title} most={question.most} onAnswer={answer} />
      ) : (
        <Options name={question.id} options={optionsOf(question, currency, words)} onChoose={answer} />
      )}
      {question.kind === 'column' && question.field === instead?.field && (
        <button type="button" className={styles.link} onClick={instead.act}>
          {instead.text}
        </button>
      )}
    </fieldset>
  )
}

/** A question as a person reads it, and why it is asked. */
function askedAs(question: Question, words: QuestionTexts): { title: string; why?: string } {
  switch (question.kind) {
    case 'column': {
      const field = words.fields[question.field] ?? question.field
      const isRival = question.id === 'column/amount' && question.columns.length <= 3 && question.columns.length > 1
      if (isRival) return { title: texts.whichAmount(question.columns.map(({ heading }) => heading)) }
      return { title: words.column[question.field] ?? texts.whichColumn(field) }
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
      return { why: texts.known(known, question.words.length - known), ...words.about(question) }
    }
    case 'choice':
      if (question.about === 'currency') return { title: question.id === 'currency/file' ? texts.currency : texts.sign(question.heading) }
      return words.about(question)
    case 'number':
      return words.about(question)
  }
}

interface Option {
  value: string
  label: string
  detail: string
}

function optionsOf(question: Exclude<Question, { kind: 'words' | 'number' }>, currency: string, words: QuestionTexts): Option[] {
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
        label:
          words.choice?.(question.about, value) ??
          (question.about === 'currency' ? value : (words.wide[`${question.about}/${value}`] ?? words.wide[value] ?? value)),
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

/** A whole number, which counts once it is entered: while it is typed it would be several. */
function NumberAnswer({ title, most, onAnswer }: { title: string; most: number; onAnswer: (value: string) => void }): ReactNode {
  const [value, setValue] = useState<number | null>(null)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (value !== null) onAnswer(String(value))
  }
  return (
    <form className={styles.number} onSubmit={submit}>
      <NumberInput
        aria-label={title}
        min={0}
        max={most}
        allowDecimal={false}
        value={value ?? ''}
        onChange={(typed) => setValue(typeof typed === 'number' ? typed : null)}
      />
      <button type="submit" className={styles.link} disabled={value === null}>
        {texts.enter}
      </button>
    </form>
  )
}

interface WordsProps {
  question: Extract<Question, { kind: 'words' }>
  words: QuestionTexts
  onAnswer: (answers: Answers) => void
}

/** The words of a column: those that are not known are answered, the others are shown with their meaning. */
function Words({ question, words, onAnswer }: WordsProps): ReactNode {
  const first = useId()
  const asked = question.words.filter(({ means, answered }) => means === null || answered)
  const known = question.words.filter((word) => !asked.includes(word))
  return (
    <div className={styles.wordList}>
      {asked.map(({ id, written, rows, example, means }, at) => (
        <div key={id} className={styles.word} data-many={question.choices.length > 3 || undefined}>
          <strong id={`${first}-${at}`}>{written || texts.noWord}</strong>
          <span className={styles.example}>{texts.rowsLike(rows, example)}</span>
          <div className={styles.segments} role="radiogroup" aria-labelledby={`${first}-${at}`}>
            {question.choices.map((choice) => (
              <label key={choice} className={styles.segment}>
                <input type="radio" name={`${first}-${at}`} checked={means === choice} onChange={() => onAnswer({ [id]: choice })} />
                <span>{words.choices[choice] ?? choice}</span>
              </label>
            ))}
          </div>
        </div>
      ))}
      {known.map(({ id, written, rows, means }) => (
        <div key={id} className={styles.word} data-known>
          <strong>{written || texts.noWord}</strong>
          <span className={styles.example}>{texts.rowsLike(rows, '')}</span>
          <span className={styles.meaning}>{words.means[means ?? '']}</span>
        </div>
      ))}
    </div>
  )
}

/** The number of the question that a cell waits for. */
export function Asked({ id, questions }: { id: string; questions: Question[] }): ReactNode {
  const at = questions.findIndex((question) => isAbout(question, id))
  return <span className={styles.asked}>{at >= 0 && at < mostAsked ? texts.question(at + 1) : texts.laterQuestion}</span>
}

interface AnsweredProps {
  answers: Answers
  words: QuestionTexts
  onForget: (id: string) => void
}

/** The answers that the reading rests on; each can be given again. */
export function Answered({ answers, words, onForget }: AnsweredProps): ReactNode {
  const given = Object.entries(answers)
  if (given.length === 0) return null
  return (
    <div className={styles.answered}>
      <h2 className={styles.answeredTitle}>{texts.answered}</h2>
      <ul>
        {given.map(([id, value]) => (
          <li key={id}>
            <span>{texts.given(aboutOf(id, words), meaningOf(id, value, words))}</span>
            <button type="button" className={styles.link} aria-label={`${texts.change} ${aboutOf(id, words)}`} onClick={() => onForget(id)}>
              {texts.change}
            </button>
          </li>
        ))}
      </ul>
    </div>
  )
}

/** `order/date`, `state/status/offen`: the parts of an id are its subject, its column and its word. */
function aboutOf(id: string, { fields, subjects }: QuestionTexts): string {
  const [subject = '', column = '', ...word] = id.split('/')
  if (subject === 'column') return fields[column] ?? column
  const about = subjects[subject] ?? texts.subjects[subject] ?? subject
  if (word.length > 0 && word[0] !== 'both') return `${about}, “${word.join('/') || texts.noWord}”`
  return ['rows', 'unmarked', 'file'].includes(column) ? about : `${about}, ${column}`
}

function meaningOf(id: string, value: string, { means, wide, choice }: QuestionTexts): string {
  const [subject = ''] = id.split('/')
  const own = choice?.(subject, value) ?? null
  if (own !== null) return own
  if (subject === 'order') return texts.orders[value] ?? value
  if (subject === 'decimals') return texts.decimalsAre[value] ?? value
  if (subject === 'column') return value || fileTexts.notInFile
  return means[value] ?? wide[value] ?? value
}

interface ColumnsProps {
  fields: readonly string[]
  labels: Record<string, string>
  /** The columns that each field is read from, and those that can be chosen. */
  reading: { fields: Partial<Record<string, number>>; choosable: AskedColumn[] }
  answers: Answers
  onAnswer: (answers: Answers) => void
}

/** Which column is which; each can be chosen. */
export function Columns({ fields, labels, reading, answers, onAnswer }: ColumnsProps): ReactNode {
  const options = reading.choosable.map(({ key, heading, example }) => ({
    value: key,
    label: fileTexts.option(heading, example).slice(0, 60),
  }))
  const keyOf = (column: number | undefined) => reading.choosable.find((one) => one.column === column)?.key ?? ''
  return (
    <>
      <p className={styles.why}>{fileTexts.columnsOf}</p>
      <div className={styles.columns}>
        {fields.map((field) => (
          <NativeSelect
            key={field}
            label={labels[field]}
            data={[{ value: '', label: fileTexts.notInFile }, ...options]}
            value={answers[`column/${field}`] ?? keyOf(reading.fields[field])}
            onChange={(event) => onAnswer({ [`column/${field}`]: event.currentTarget.value })}
          />
        ))}
      </div>
    </>
  )
}
