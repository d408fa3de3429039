"""What a run has beside a published number, from its tidy tables: by kind of table, whatever the paper."""
