"""Reports on `barrio probe`: data, figures, findings, pages."""
