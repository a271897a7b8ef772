import { visible } from '../../../runs/plan/visible-text.ts';

/** As `visible`, for a text of several lines: tabs and line breaks stay what they are. */
export const visibleText = (text: string, longestPart: number): string =>
  text
    .split(/([\t\n])/)
    .map((part, index) => (index % 2 === 1 ? part : visible(part, longestPart)))
    .join('');
