// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- forks.c - runs a program many times that is loaded once -----------===//
//
//   LD_PRELOAD=librmsnorm_forks.so LD_BIND_NOW=1 PROGRAM INPUT OUTPUT ERRORS
//
// For each line of the standard input PROGRAM's main runs in a child of its
// own, with the words of the line, which tabs part, as arguments. It reads the
// file INPUT, and what it prints is in the files OUTPUT and ERRORS when its
// status is printed here: as Python has it, negative for a signal. The first
// word is a number of seconds after which the child is ended. To load LLVM's
// and MLIR's libraries takes about as long as to compile a small program.
//
//===----------------------------------------------------------------------===//

#ifndef _GNU_SOURCE
#define _GNU_SOURCE // RTLD_NEXT
#endif
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

typedef int (*Main)(int, char **, char **);
typedef int (*Start)(Main, int, char **, void (*)(void), void (*)(void),
                     void (*)(void), void *);

static Main theirs;

static void redirect(const char *path, int flags, int descriptor) {
  int file = open(path, flags, 0666);
  if (file < 0 || dup2(file, descriptor) < 0) {
    perror(path);
    exit(2);
  }
  close(file);
}

/// Runs the program with the words of `line`, and ends.
static void run(char *name, char *line, char **files, char **environment) {
  redirect(files[0], O_RDONLY, STDIN_FILENO);
  redirect(files[1], O_WRONLY | O_CREAT | O_TRUNC, STDOUT_FILENO);
  redirect(files[2], O_WRONLY | O_CREAT | O_TRUNC, STDERR_FILENO);
  char **words = calloc(strlen(line) + 2, sizeof(char *));
  int count = 0;
  alarm((unsigned)atoi(strtok(line, "\t\n")));
  words[count++] = name;
  while ((words[count] = strtok(NULL, "\t\n")))
    ++count;
  exit(theirs(count, words, environment));
}

static int serve(int argc, char **argv, char **environment) {
  // Not for what the program starts.
  unsetenv("LD_PRELOAD");
  unsetenv("LD_BIND_NOW");
  if (argc != 4) {
    fprintf(stderr, "forks: expected three files, got %d\n", argc - 1);
    return 2;
  }
  char *line = NULL;
  size_t size = 0;
  while (getline(&line, &size, stdin) > 1) {
    pid_t child = fork();
    if (child == 0)
      run(argv[0], line, argv + 1, environment);
    int status;
    if (child < 0 || waitpid(child, &status, 0) != child) {
      perror("forks");
      return 2;
    }
    printf("%d\n",
           WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status));
    fflush(stdout);
  }
  return 0;
}

/// What a program's entry calls: main, and before it all constructors.
int __libc_start_main(Main main, int argc, char **argv, void (*init)(void),
                      void (*fini)(void), void (*end)(void), void *stack) {
  theirs = main;
  Start start = (Start)dlsym(RTLD_NEXT, "__libc_start_main");
  return start(serve, argc, argv, init, fini, end, stack);
}
