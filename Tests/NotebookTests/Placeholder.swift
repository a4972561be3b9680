// Tests of Notebook.
