# Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
"""Reads what addnorm_bench --json wrote: one page of plots, tables for Markdown, what became slower."""
import argparse
import sys

import compare
import results
import tables


def parse(arguments):
    parser = argparse.ArgumentParser(prog="bench/report", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)

    html = commands.add_parser("html", help="one page with plots, of any number of machines; needs plotly")
    html.add_argument("files", nargs="+", metavar="JSON")
    html.add_argument("-o", "--output", required=True, metavar="HTML")

    table = commands.add_parser("table", help="Markdown tables of the suite `table`")
    table.add_argument("files", nargs="+", metavar="JSON")

    plot = commands.add_parser("plot", help="the plot of README.md, as SVG; needs plotly, kaleido and Chromium")
    plot.add_argument("file", metavar="JSON")
    plot.add_argument("-o", "--output", required=True, metavar="SVG")

    difference = commands.add_parser(
        "compare", help="what became slower from one file to the other beyond the noise; exits with 1 if anything did")
    difference.add_argument("before", metavar="BEFORE.json")
    difference.add_argument("after", metavar="AFTER.json")
    difference.add_argument("--least", type=float, default=0.05, metavar="PART",
                            help="smaller changes are never reported (default: 0.05)")
    difference.add_argument("--ns", action="store_true",
                            help="compare times, not multiples of the one-pass roof: only on the same, quiet machine")
    return parser.parse_args(arguments)


def main(arguments):
    options = parse(arguments)
    try:
        if options.command == "compare":
            before, after = results.load(options.before), results.load(options.after)
            found = compare.compare(before, after, options.least, "ns" if options.ns else "x_one_pass")
            print(compare.text(before, after, found))
            return 1 if found.slower else 0
        if options.command == "plot":
            import page
            page.write_plot(results.load(options.file), options.output)
            return 0
        runs = results.load_all(options.files)
        if options.command == "table":
            print(tables.text(runs))
            return 0
        import page
        page.write(runs, options.output)
        return 0
    except BrokenPipeError:  # as in `... | head`
        return 1
    except results.Unreadable as fault:
        print(f"bench/report: {fault}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
