"""The report for readers: pages, texts and tables as HTML, Markdown and LaTeX."""
