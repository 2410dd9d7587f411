/*
 * sqlite_schema - the tables and views of a report as a database; docs/report-sqlite.md describes them.
 */
#ifndef RD_REPORT_SQLITE_SCHEMA_H
#define RD_REPORT_SQLITE_SCHEMA_H

extern const char rd_sqlite_tables[];
/* Indices and views: made when the tables are full. */
extern const char rd_sqlite_views[];

#endif
