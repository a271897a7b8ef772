type Values = Readonly<Record<string, unknown>>;

/** Of one decision, as JSON; messages are kept beside them, with limits of their own. */
const mostCharacters = 64 * 1024;

/** What is recorded of the values of rules: a list of decisions must not be hundreds of megabytes. Rules are whole or left out. */
export function recordedValues(values: Values): Values {
  let left = mostCharacters;
  const fits = ([rule, value]: [string, unknown]): boolean => {
    const { length } = JSON.stringify({ [rule]: value });
    if (length > left) return false;
    left -= length;
    return true;
  };
  return Object.fromEntries(Object.entries(values).filter(fits));
}
