// One function a verb; argv[0] is the verb itself. They return the exit code.
#ifndef SN_CLI_COMMANDS_H
#define SN_CLI_COMMANDS_H

int command_run(int argc, char** argv);
int command_flesh(int argc, char** argv);
int command_check(int argc, char** argv);
int command_export(int argc, char** argv);
int command_materials(int argc, char** argv);
int command_render(int argc, char** argv);
int command_view(int argc, char** argv);
int command_bench(int argc, char** argv);

#endif
